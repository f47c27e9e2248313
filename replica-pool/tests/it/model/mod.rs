//! Health, order and refresh of a pool, act by act, against a model that keeps all that ever happened.
//!
//! The gateway answers when an act says so. Whether it is asked, and whom connections are opened to, must be what the model
//! says; when, within the bounds of the pauses between questions.

mod expected;
mod past;

use std::{collections::BTreeMap, sync::Arc};

use breaker_core::Circuit;
use proptest::prelude::*;
use replica_pool::{HealthStatus, Lease, Replica, Verdict};
use tokio::time::sleep;

use self::{
    expected::Model,
    past::{Past, What},
};
use crate::kit::{Addr, Answer, Bench, Registry, Remote, millis, settle};

const NAMES: [Addr; 4] = ["A", "B", "C", "D"];
/// The longest pause between two questions, and a step.
const PAUSE: u64 = 15_000 * 6 / 5 + 1_000;
/// How old a dropped call is a failure.
const ABANDONED: u64 = 1_000;

#[derive(Clone, Debug)]
enum Act {
    Begin {
        call: u8,
        at: usize,
    },
    Finish {
        call: u8,
        verdict: u8,
    },
    Drop {
        call: u8,
    },
    Advance {
        ms: u64,
    },
    /// Somebody wants to know the addresses.
    Ask,
    /// The gateway answers the question under way: with those of the bits, or not at all.
    Answer {
        names: Option<u8>,
    },
    /// Connections to it can be opened, or not.
    Turn {
        at: usize,
        well: bool,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let (call, at) = (0..4_u8, 0..NAMES.len());
    prop_oneof![
        4 => (call.clone(), at.clone()).prop_map(|(call, at)| Act::Begin { call, at }),
        4 => (call.clone(), 0..3_u8).prop_map(|(call, verdict)| Act::Finish { call, verdict }),
        1 => call.prop_map(|call| Act::Drop { call }),
        2 => (1..2_000_u64).prop_map(|ms| Act::Advance { ms }),
        2 => (2_000..70_000_u64).prop_map(|ms| Act::Advance { ms }),
        1 => Just(Act::Ask),
        4 => prop::option::weighted(0.8, 1..16_u8).prop_map(|names| Act::Answer { names }),
        1 => (at, any::<bool>()).prop_map(|(at, well)| Act::Turn { at, well }),
    ]
}

/// A call that is out: whom it is sent to, whether that is still whom it was, and the version of the set it was chosen from.
struct Out {
    lease: Lease<Addr>,
    at: Addr,
    began: u64,
    version: u64,
    /// Which of all who ever lived there: the number of its object.
    object: *const Replica<Addr>,
}

/// A pool and its model.
struct Pair {
    bench: Bench,
    model: Model,
    out: BTreeMap<u8, Out>,
    story: Vec<String>,
}

impl Pair {
    async fn new(validating: bool) -> Self {
        let settings = format!(
            r#"{{ "circuitBreaker": {{ "failureThreshold": 1, "failureThresholdCapacity": 1, "successThreshold": 1,
                "testDelay": "PT10S", "halfOpenPermitLease": "P1D" }},
            "replicaPool": {{ "trialRatio": 0, "validation": {{ "enabled": {validating} }} }} }}"#
        );
        let bench = Bench::build(Registry::naming(&NAMES), &settings, |builder| builder);
        bench.pool.ready().await.unwrap();
        bench.gateway.hold();
        let known = NAMES.map(|at| (at, (Past::new(0), None)));
        let model = Model {
            now: 0,
            validating,
            known: known.into(),
            set: NAMES.to_vec(),
            version: 1,
            well: [true; NAMES.len()],
            asking: None,
            owed_since: None,
            may_ask: false,
            later: None,
            own: false,
            asked: 1,
            opened: Vec::new(),
        };
        Self { bench, model, out: BTreeMap::new(), story: Vec::new() }
    }

    async fn play(&mut self, act: &Act) {
        let now = self.model.now;
        match *act {
            Act::Begin { call, at } => self.begin(call, NAMES[at]),
            Act::Finish { call, verdict } => {
                let Some(out) = self.out.remove(&call) else { return };
                let (verdict, what) = match verdict {
                    0 => (Verdict::SUCCESS, What::Succeeded(call)),
                    1 => (Verdict::FAILURE, What::Failed(call)),
                    _ => (Verdict::UNREACHABLE, What::Marked(call)),
                };
                self.happened(&out, what);
                let replica = Arc::clone(out.lease.replica());
                out.lease.finish(&verdict);
                self.failed(&replica, what);
            }
            Act::Drop { call } => {
                let Some(out) = self.out.remove(&call) else { return };
                let old = now >= out.began + ABANDONED;
                let what = if old { What::Marked(call) } else { What::Cancelled(call) };
                self.happened(&out, what);
                let replica = Arc::clone(out.lease.replica());
                drop(out.lease);
                self.failed(&replica, what);
            }
            Act::Advance { ms } => self.advance(ms).await,
            Act::Ask => {
                let pool = self.bench.pool.clone();
                tokio::spawn(async move { pool.refresh().await });
                if self.model.asking.is_none() {
                    self.model.owe();
                }
            }
            Act::Answer { names } => self.answer(names).await,
            Act::Turn { at, well } => {
                self.model.well[at] = well;
                self.bench.world.set(NAMES[at], if well { Remote::Well } else { Remote::Refuses });
            }
        }
        self.observe().await;
    }

    fn begin(&mut self, call: u8, at: Addr) {
        let now = self.model.now;
        if self.out.contains_key(&call) || !self.model.set.contains(&at) {
            return;
        }
        let admits = self.model.past(at).fuse(now).admits();
        let candidates = self.bench.pool.select(usize::MAX);
        let candidate = candidates.iter().find(|candidate| *candidate.replica().address() == at).unwrap();
        let lease = candidate.begin();
        assert_eq!(lease.is_ok(), admits, "{at} admits a call\n{}", self.told());
        let Ok(lease) = lease else { return };
        let object = Arc::as_ptr(lease.replica());
        self.model.past(at).add(now, What::Begun(call));
        self.out.insert(call, Out { lease, at, began: now, version: self.model.version, object });
    }

    /// A call has ended. What becomes of one to a replica that is forgotten is not looked at.
    fn happened(&mut self, out: &Out, what: What) {
        let now = self.model.now;
        let same = |replica: &Arc<Replica<Addr>>| Arc::as_ptr(replica) == out.object;
        let in_set = self.bench.pool.replicas().replicas().iter().any(same);
        let remembered = self.model.known.get(out.at).is_some_and(|(_, left)| left.is_some());
        if !in_set && !remembered {
            return;
        }
        let before = self.model.past(out.at).health();
        self.model.past(out.at).add(now, what);
        let after = self.model.past(out.at).health();
        let news = after != before;
        if matches!(what, What::Marked(_)) && (news || after.status == HealthStatus::Unhealthy) {
            self.model.marked(out.version, out.at, news);
        }
    }

    /// Forgotten replicas too have circuits that can be open.
    fn failed(&mut self, replica: &Replica<Addr>, what: What) {
        let failed = matches!(what, What::Failed(_) | What::Marked(_));
        if failed && replica.breaker().state().circuit() == Circuit::Open {
            self.model.held_open();
        }
    }

    /// In steps, until a question is asked: those that wait for too long would end by themselves.
    async fn advance(&mut self, ms: u64) {
        if self.model.asking.is_some() {
            self.answer(None).await;
        }
        let mut left = ms;
        while left > 0 && self.model.asking.is_none() {
            let step = left.min(500);
            sleep(millis(step)).await;
            (left, self.model.now) = (left - step, self.model.now + step);
            self.observe().await;
        }
    }

    async fn answer(&mut self, names: Option<u8>) {
        if self.model.asking.is_none() {
            return;
        }
        let names = names.map(|bits| (0..4).filter(move |bit| bits >> bit & 1 == 1).map(|bit| NAMES[bit]));
        let names = names.map(Iterator::collect::<Vec<_>>);
        match &names {
            Some(names) => {
                self.bench.gateway.names(names);
                self.model.answered(names);
            }
            None => self.bench.gateway.answer(Answer::Fails),
        }
        self.model.ended();
        let follows = self.model.owed_since.is_some() && !self.model.own;
        self.bench.gateway.release_one();
        settle().await;
        if names.is_some() {
            // A question that follows at once is asked before any connection could be opened.
            if follows {
                self.note_question();
            }
            self.model.validate();
        }
    }

    /// A question may have been asked.
    fn note_question(&mut self) {
        let now = self.model.now;
        let asked = self.bench.gateway.asked();
        if asked > self.model.asked {
            assert_eq!(asked, self.model.asked + 1, "one question at a time\n{}", self.told());
            assert!(self.model.asking.is_none(), "one question at a time\n{}", self.told());
            let wanted = self.model.owed_since.is_some() || self.model.may_ask;
            assert!(wanted, "nobody wanted to know\n{}", self.told());
            (self.model.asked, self.model.asking, self.model.owed_since) = (asked, Some(false), None);
            (self.model.may_ask, self.model.own, self.model.later) = (false, false, None);
            for at in self.model.set.clone() {
                self.model.past(at).add(now, What::Asked);
            }
        }
    }

    /// Looks at the pool, and finds it to be what the model says.
    async fn observe(&mut self) {
        settle().await;
        let now = self.model.now;
        self.model.pass();
        // A look at marks that are too old is a reason to ask.
        let tiers = self.model.tiers();
        let overdue = self.model.set.iter().any(|at| self.model.known[at].0.health().is_overdue(now));
        let order = self.bench.order();
        if overdue && self.model.asking.is_none() {
            self.model.owe();
        }
        settle().await;
        self.note_question();
        if let Some(since) = self.model.owed_since {
            assert!(now <= since + PAUSE, "the question of {since} is due\n{}", self.told());
        }
        let mut left = order.into_iter();
        for tier in tiers {
            let mut found: Vec<_> = left.by_ref().take(tier.len()).collect();
            found.sort_unstable();
            let mut tier = tier;
            tier.sort_unstable();
            assert_eq!(found, tier, "the order\n{}", self.told());
        }
        assert_eq!(left.next(), None, "nobody else is in the set\n{}", self.told());
        for at in self.model.set.clone() {
            let past = &self.model.known[at].0;
            let expected = (past.health().status, past.fuse(now).circuit);
            assert_eq!((self.bench.health(at), self.bench.circuit(at)), expected, "{at}\n{}", self.told());
        }
        assert_eq!(self.bench.world.opened(), self.model.opened, "connections\n{}", self.told());
        assert_eq!(self.bench.pool.replicas().version(), self.model.version, "version\n{}", self.told());
    }

    fn told(&self) -> String {
        let pasts = self.model.known.iter().map(|(at, (past, _))| format!("  {at}:{past}\n"));
        format!(
            "at {} ms, after\n  {}\nwith\n{}",
            self.model.now,
            self.story.join("\n  "),
            pasts.collect::<String>()
        )
    }
}

fn play(validating: bool, acts: &[Act]) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut pair = Pair::new(validating).await;
        for act in acts {
            pair.story.push(format!("{:>7} ms {act:?}", pair.model.now));
            pair.play(act).await;
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_what_the_whole_history_says(
        validating in any::<bool>(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        play(validating, &acts);
    }
}

/// Seen once: the replica is validated beside the question that follows the answer.
#[test]
fn a_question_that_follows_at_once_does_not_know_of_a_connection_that_is_refused_then() {
    use Act::*;
    let acts = [
        Begin { call: 1, at: 3 },
        Advance { ms: 1000 },
        Begin { call: 0, at: 0 },
        Finish { call: 1, verdict: 2 },
        Turn { at: 3, well: false },
        Begin { call: 0, at: 0 },
        Begin { call: 2, at: 0 },
        Advance { ms: 1 },
        Advance { ms: 2000 },
        Finish { call: 2, verdict: 2 },
        Answer { names: Some(8) },
        Answer { names: Some(2) },
    ];
    play(true, &acts);
}

/// `POOL_MODEL_CASES=100000` tries so many.
fn cases() -> u32 {
    std::env::var("POOL_MODEL_CASES").ok().map_or(100, |cases| cases.parse().unwrap())
}
