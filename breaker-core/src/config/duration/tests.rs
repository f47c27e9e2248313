use std::time::Duration;

use serde_json::{from_value, json, to_value};

use super::{DurationError, IsoDuration};

fn millis(written: &str) -> Result<u128, DurationError> {
    written.parse::<IsoDuration>().map(|span| span.get().as_millis())
}

#[test]
fn iso_8601_is_read_in_any_case_and_with_days() {
    assert_eq!(millis("PT20S"), Ok(20_000));
    assert_eq!(millis("pt2m"), Ok(120_000));
    assert_eq!(millis("Pt1h"), Ok(3_600_000));
    assert_eq!(millis("PT0.5S"), Ok(500));
    assert_eq!(millis("P1D"), Ok(86_400_000));
    assert_eq!(millis("p1dt1s"), Ok(86_401_000));
    assert_eq!(millis("P1W"), Ok(604_800_000));
    assert_eq!(millis("+PT1S"), Ok(1_000));
}

#[test]
fn friendly_spans_are_read() {
    assert_eq!(millis("20s"), Ok(20_000));
    assert_eq!(millis("1m 30s"), Ok(90_000));
    assert_eq!(millis("250ms"), Ok(250));
    assert_eq!(millis("2 hours"), Ok(7_200_000));
    assert_eq!(millis("1d"), Ok(86_400_000));
    assert_eq!(millis("1w 1d"), Ok(8 * 86_400_000));
}

#[test]
fn the_smallest_units_are_read() {
    let span = |written: &str| written.parse().map(IsoDuration::get);
    assert_eq!(span("1ms 5us 7ns"), Ok(Duration::from_nanos(1_005_007)));
    assert_eq!(IsoDuration::from_millis(1_500).get(), Duration::from_millis(1_500));
}

#[test]
fn numbers_are_seconds_and_zero_is_a_span() {
    let read = |value| from_value::<IsoDuration>(value).unwrap().get();
    assert_eq!(read(json!(20)), Duration::from_secs(20));
    assert_eq!(read(json!(60.0)), Duration::from_secs(60));
    assert_eq!(read(json!(0.5)), Duration::from_millis(500));
    assert_eq!(read(json!(0.1)), Duration::from_millis(100));
    assert_eq!(read(json!(0)), Duration::ZERO);
    assert_eq!(read(json!("PT0S")), Duration::ZERO);
    assert_eq!(read(json!(-0.0)), Duration::ZERO);
}

#[test]
fn negative_spans_are_refused_in_every_form() {
    assert_eq!(millis("-PT1S"), Err(DurationError::Negative));
    assert_eq!(millis("-5s"), Err(DurationError::Negative));
    assert_eq!(millis("5s ago"), Err(DurationError::Negative));
    assert_eq!(IsoDuration::try_from_secs_f64(-0.5), Err(DurationError::Negative));
    assert!(from_value::<IsoDuration>(json!(-1)).is_err());
}

#[test]
fn what_is_not_finite_is_refused() {
    assert_eq!(IsoDuration::try_from_secs_f64(f64::NAN), Err(DurationError::NotADuration));
    assert_eq!(IsoDuration::try_from_secs_f64(f64::INFINITY), Err(DurationError::TooLong));
    for written in ["NaN", "Infinity", "", "P", "PT", "soon", "20", "s", " 20s", "PT1", "PT1S2", "1e3s"] {
        assert_eq!(millis(written), Err(DurationError::NotADuration), "{written:?}");
    }
}

#[test]
fn what_is_neither_a_text_nor_a_number_is_told_what_it_should_be() {
    assert_eq!(
        from_value::<IsoDuration>(json!(true)).unwrap_err().to_string(),
        r#"invalid type: boolean `true`, expected a duration such as "PT20S" or "1m 30s", or a number of seconds"#
    );
}

#[test]
fn months_and_years_have_no_fixed_length() {
    for written in ["P1M", "P1Y", "p1y2d", "1 month", "2y"] {
        assert_eq!(millis(written), Err(DurationError::NoFixedLength), "{written:?}");
    }
}

#[test]
fn a_hundred_years_is_the_most() {
    assert_eq!(millis("P36525D"), Ok(3_155_760_000_000));
    assert_eq!(millis("P36525DT0.001S"), Err(DurationError::TooLong));
    assert!(from_value::<IsoDuration>(json!(3_155_760_000_u64)).is_ok());
    assert!(from_value::<IsoDuration>(json!(3_155_760_001_u64)).is_err());
    assert!(from_value::<IsoDuration>(json!(u64::MAX)).is_err());
    assert!(from_value::<IsoDuration>(json!(1e300)).is_err());
}

#[test]
fn writes_iso_8601_that_reads_back_the_same() {
    for (span, written) in [
        (Duration::ZERO, "PT0S"),
        (Duration::from_millis(500), "PT0.5S"),
        (Duration::from_nanos(1), "PT0.000000001S"),
        (Duration::from_secs(20), "PT20S"),
        (Duration::from_secs(60), "PT1M"),
        (Duration::from_secs(90), "PT1M30S"),
        (Duration::from_secs(86_400), "PT24H"),
        (super::LONGEST, "PT876600H"),
    ] {
        assert_eq!(to_value(IsoDuration::from(span)).unwrap(), json!(written));
        assert_eq!(written.parse::<IsoDuration>().map(Duration::from), Ok(span));
    }
}
