/**
 * Where a promise comes from: a section (`§10.2`) or rule (`R16`) of docs/protocol, a case of
 * docs/decisions/cases.md (`F14`), or the description of the product itself.
 */
export type RequirementSource =
  | `§${number}`
  | `${'R' | 'F' | 'T' | 'S' | 'X' | 'K' | 'C' | 'M' | 'P'}${number}`
  | 'product';

/** One observable promise. Tests cite it by its id in brackets at the start of their name. */
export type Requirement = {
  /** Unique and stable. Opens with its source, except for the families `product-`, `bad-` and `done-`. */
  readonly id: string;
  readonly source: RequirementSource;
  /** The part that has to keep the promise. */
  readonly covers: 'server' | 'client' | 'protocol' | 'command';
  /** One sentence on what an observer sees. */
  readonly says: string;
};
