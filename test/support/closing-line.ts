import type { Reporter, TestModule } from 'vitest/node';

/** Closes the run with one plain line that scripts can read: `N passed, N failed`. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandled.length;
    let skipped = 0;
    for (const module of modules) {
      let ran = 0;
      for (const test of module.children.allTests()) {
        ran++;
        const { state } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'failed') failed++;
        else skipped++;
      }
      // a file that broke before it had a test is a failure of its own
      if (ran === 0 && module.state() === 'failed') failed++;
    }
    const tail = skipped > 0 ? `, ${skipped} skipped` : '';
    // after the default reporter has written its summary
    setImmediate(() => process.stdout.write(`${passed} passed, ${failed} failed${tail}\n`));
  }
}
