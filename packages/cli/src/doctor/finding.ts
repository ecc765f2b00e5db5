/** What one look at the machine found. */
export interface Finding {
  /** What was looked at: `Node`, `config`, `key openai`. */
  readonly about: string;
  /** `warning`: it works, but not as one might expect. */
  readonly state: 'ok' | 'warning' | 'broken';
  readonly says: string;
  /** How to mend it; always there unless all is well. */
  readonly mend?: string;
}
