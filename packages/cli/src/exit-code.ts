/** How the command ends, for scripts (product). */
export const EXIT = {
  /** What was asked for is done. */
  done: 0,
  /** It was tried and failed. */
  failed: 1,
  /** It was never tried: the command line or the config is wrong. */
  usage: 2,
  /** The user cancelled it. */
  cancelled: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
