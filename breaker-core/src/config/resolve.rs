//! From a `circuitBreaker` block to a blueprint.

use super::{
    Block, Blueprint, ConfigError, Fault, Registry,
    check::{Checker, Unknown},
    describe::one_of,
    key_schema::KeySchema,
    node::{Kind, Member},
    pointer::joined,
    registry::{Entry, SELECTORS},
    suggest::nearest,
};

/// What a `circuitBreaker` block says.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resolved {
    /// The strategy and its settings.
    pub blueprint: Blueprint,
    /// Keys that were passed over: those of a block without `strategy` that resemble no known key. Readers of
    /// old files ignored them.
    pub warnings: Vec<Fault>,
}

/// Which strategy a block asks for.
enum Choice<'r> {
    /// It says so, or (`false`) it gets the default.
    Of(&'r Entry, bool),
    /// It says so in a way that leaves no doubt and is wrong nevertheless.
    Meant(&'r Entry),
    /// Nobody knows.
    Unclear,
}

impl Registry {
    /// Reads a `circuitBreaker` block. An absent one is the default strategy with its defaults.
    ///
    /// `strategy`, or `type` in its place, chooses the strategy, in exact upper case; without either it is the
    /// default one. A `null` counts as absent, and is allowed for the keys of any strategy.
    ///
    /// # Errors
    ///
    /// With everything that is wrong with the block.
    pub fn resolve(&self, block: &Block<'_>) -> Result<Resolved, ConfigError> {
        let mut checker = Checker::new(block);
        let (entry, chosen) = match self.choice(block, &mut checker) {
            Choice::Of(entry, chosen) => (entry, chosen),
            Choice::Meant(entry) => (entry, true),
            Choice::Unclear => return Err(self.unclear(checker, block)),
        };
        let good = checker.block(&entry.keys, &self.unknown(entry, !chosen));
        let good = checker.deserialisable(good, entry.probe);
        let (blueprint, warnings) = checker.finish(good, entry.build)?;
        Ok(Resolved { blueprint, warnings })
    }

    fn choice(&self, block: &Block<'_>, checker: &mut Checker<'_>) -> Choice<'_> {
        let written = SELECTORS.map(|key| checker.member(key).filter(|member| !member.value.is_null()));
        let (member, second) = match written {
            [Some(strategy), Some(other)] => (strategy, Some(other)),
            [Some(member), None] | [None, Some(member)] => (member, None),
            [None, None] => {
                // The first entry: there always is one.
                return self.entries().first().map_or(Choice::Unclear, |entry| Choice::Of(entry, false));
            }
        };
        let choice = self.named(block, checker, member);
        let Some(second) = second else { return choice };
        let path = joined(block.path(), &second.key);
        let fault =
            checker.fault_of(&second.value, second.start, &path, "is a second choice of the strategy");
        checker.push(Fault { hint: Some(format!("remove {:?} or {:?}", member.key, second.key)), ..fault });
        match choice {
            Choice::Of(entry, _) if second.value.to_value() == entry.name => choice,
            _ => Choice::Unclear,
        }
    }

    fn named<'r>(&'r self, block: &Block<'_>, checker: &mut Checker<'_>, member: &Member) -> Choice<'r> {
        let path = joined(block.path(), &member.key);
        let allowed = one_of(self.names().map(|name| format!("{name:?}")));
        let Kind::String(name) = &member.value.kind else {
            let reason = format!("is {}", member.value.sort());
            let fault = checker.fault_of(&member.value, member.start, &path, &reason);
            checker.push(Fault { allowed: Some(allowed), ..fault });
            return Choice::Unclear;
        };
        if let Some(entry) = self.entry(name) {
            return Choice::Of(entry, true);
        }
        let fault = checker.fault_of(&member.value, member.start, &path, "is not a known strategy");
        let hint = nearest(name, self.names()).map(|known| format!("did you mean {known:?}?"));
        checker.push(Fault { allowed: Some(allowed), hint, ..fault });
        let meant = self.entries().iter().find(|entry| entry.name.eq_ignore_ascii_case(name));
        meant.map_or(Choice::Unclear, Choice::Meant)
    }

    /// Without a strategy, the values cannot be checked, but keys that no strategy knows can.
    fn unclear(&self, mut checker: Checker<'_>, block: &Block<'_>) -> ConfigError {
        let nothing = KeySchema::of_schema(schemars::Schema::default());
        let mut known = SELECTORS.to_vec();
        known.extend(self.entries().iter().flat_map(|entry| entry.keys.properties()).map(|(key, _)| key));
        let mut seen = std::collections::HashSet::new();
        known.retain(|key| seen.insert(*key));
        let unknown = Unknown { excused: known.clone(), known, ..Unknown::default() };
        checker.block(&nothing, &unknown);
        let nobody = |_| Err::<(), _>(super::typed::Rejected::Together(super::Violations(Vec::new())));
        match checker.finish(serde_json::Map::new(), nobody) {
            Err(error) => error,
            Ok(_) => block.document().fault(block.start(), "no strategy").into(),
        }
    }

    fn unknown<'r>(&'r self, entry: &'r Entry, lenient: bool) -> Unknown<'r> {
        let mut foreign: Vec<(&str, String)> = Vec::new();
        for other in self.entries().iter().filter(|other| other.name != entry.name) {
            for (key, _) in other.keys.properties().filter(|(key, _)| !entry.keys.has(key)) {
                match foreign.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, needs)) => needs.push_str(&format!(" or {:?}", other.name)),
                    None => foreign.push((key, format!("\"strategy\": {:?}", other.name))),
                }
            }
        }
        let own = entry.keys.properties().map(|(key, _)| key);
        let known = own.chain(SELECTORS).chain(foreign.iter().map(|(key, _)| *key)).collect();
        Unknown { excused: SELECTORS.to_vec(), known, foreign, lenient }
    }
}
