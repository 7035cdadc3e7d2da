"""When two statements say the same: a pure rule, and how a batch of new atoms is settled by it."""
