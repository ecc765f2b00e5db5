/** What a test asks of the page, by `page.evaluate`. Everything that comes back is plain. */
export interface BrowserPage {
  /** Begins a run; a page has one at a time. */
  begin(options: { baseUrl: string; prompt: string }): void;
  /** The text of the answer so far. */
  text(): string;
  /** How many text events brought it. */
  pieces(): number;
  /** The kinds of execs that executors of the page answered. */
  execs(): string[];
  /** The tool calls that ended, by name and status. */
  tools(): string[];
  cancel(): void;
  end(): Promise<{ outcome: string; text: string; error?: { code: string } }>;
  models(baseUrl: string): Promise<string[]>;
}
