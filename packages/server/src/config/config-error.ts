/** A config that cannot be used. The message is for a person: where, what was expected, what was found, how to mend it. */
export class ConfigError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ConfigError';
  }
}
