export type ExecFailureReason =
  | 'unavailable' // the client has no handler for it (R35)
  | 'thrown' // the client's handler broke (R29)
  | 'mismatch' // the answer is of another kind than the question (R28)
  | 'unset' // the answer chose no result (R28)
  | 'closed' // the stream closed and no result came (R29, R30)
  | 'expired' // its deadline passed without an answer (R18)
  | 'aborted'; // the run was cancelled (R33)

/** An exec that gave no usable answer. The message is fit for the model to read. */
export class ExecFailure extends Error {
  readonly reason: ExecFailureReason;
  constructor(reason: ExecFailureReason, message: string) {
    super(message);
    this.name = 'ExecFailure';
    this.reason = reason;
  }
}
