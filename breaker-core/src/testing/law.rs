use std::fmt;

/// What every strategy must keep, whatever its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Law {
    /// No method panics, whatever came before, evidence of other strategies included.
    NoPanic,
    /// The state that is read for an instant is the state that a tick at that instant commits, with its tally and its
    /// evidence; a tick does all that is due, and nothing where nothing is.
    StateAtAgreesWithTick,
    /// Reading never changes what comes later, and `wants_latency` is constant.
    ReadingChangesNothing,
    /// A half-open state never has more calls out than its first one admitted at once, and none is admitted while it
    /// says that it is full.
    NeverMoreOutThanAllowed,
    /// A half-open call that is cancelled or ignored frees one place: its own.
    DroppedPermitFreesItsPlace,
    /// A cancelled or ignored call changes neither the state nor the counts.
    IgnoredChangesNothing,
    /// A call from before a change of state takes no place and has no say after it.
    OlderEpochsChangeNothing,
    /// A closed circuit that has seen successes alone stays closed.
    SuccessesNeverOpen,
    /// A circuit says that it is steady only where one more success would change nothing.
    SteadyMeansUnchanged,
    /// An open circuit with a deadline stays open until then, no shorter and no longer, and its deadline stays.
    OpenUntilItsDeadline,
    /// A fresh strategy that adopts evidence would give the same evidence.
    EvidenceSurvives,
    /// An open circuit ends by its deadline or by healthy probes; a half-open one whose calls are lost starts over or
    /// ends; one whose calls succeed closes.
    NeverStuck,
}

impl Law {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::NoPanic,
        Self::StateAtAgreesWithTick,
        Self::ReadingChangesNothing,
        Self::NeverMoreOutThanAllowed,
        Self::DroppedPermitFreesItsPlace,
        Self::IgnoredChangesNothing,
        Self::OlderEpochsChangeNothing,
        Self::SuccessesNeverOpen,
        Self::SteadyMeansUnchanged,
        Self::OpenUntilItsDeadline,
        Self::EvidenceSurvives,
        Self::NeverStuck,
    ];
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NoPanic => "no panic on any sequence",
            Self::StateAtAgreesWithTick => "state_at agrees with tick",
            Self::ReadingChangesNothing => "reading changes nothing",
            Self::NeverMoreOutThanAllowed => "never more half-open calls out than allowed",
            Self::DroppedPermitFreesItsPlace => "a dropped permit frees its place",
            Self::IgnoredChangesNothing => "ignored and cancelled calls change nothing",
            Self::OlderEpochsChangeNothing => "results of an older epoch change nothing",
            Self::SuccessesNeverOpen => "successes alone never open it",
            Self::SteadyMeansUnchanged => "steady means that a success changes nothing",
            Self::OpenUntilItsDeadline => "open until its deadline",
            Self::EvidenceSurvives => "evidence survives adopt",
            Self::NeverStuck => "never stuck",
        })
    }
}
