import type { AnyExecutor, ExecAnswer, ExecArgs, ExecContext, ExecKind, Executor } from '../executor.ts';
import type { Machine } from './machine.ts';

/** An executor that gives one answer, by what its module exports: it makes the executor of a machine. */
type OneAnswer<Kind extends ExecKind> = (machine: Machine) => Executor<Kind>;

/**
 * An executor whose code is loaded with its first exec: a run needs few of the kinds that this client can do, and a command starts the
 * sooner the less it loads.
 *
 * @param deadlineMs what the executor itself says
 */
export function lateExecutor<Kind extends ExecKind>(
  machine: Machine,
  kind: Kind,
  load: () => Promise<OneAnswer<Kind>>,
  deadlineMs?: number | null,
): AnyExecutor {
  let made: Promise<Executor<Kind>> | undefined;
  const late: Executor<Kind> = {
    kind,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    async run(args: ExecArgs<Kind>, context: ExecContext): Promise<ExecAnswer> {
      made ??= load().then(make => make(machine));
      return await ((await made).run(args, context) as Promise<ExecAnswer>);
    },
  };
  // Which kind it is, is known to the caller alone.
  return late as unknown as AnyExecutor;
}
