"""The pages of work: lists, boards, one item, a new one."""
