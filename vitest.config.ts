import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['tandem-source'] },
  ssr: { resolve: { conditions: ['tandem-source'], externalConditions: ['tandem-source'] } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    // a guard against hanging, ten times what the slowest promise takes; no test waits for luck
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    execArgv: ['--conditions=tandem-source'],
    reporters: ['default', './test/support/closing-line.ts'],
  },
});
