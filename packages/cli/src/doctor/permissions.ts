import { examineRules } from '@tandem/client/node';
import type { Finding } from './finding.ts';

/** Whether the rules of the user and of this folder can be taken. */
export function examinePermissions(folder: string): Finding[] {
  const about = 'permissions';
  const found = examineRules(folder);
  if ('problem' in found) {
    const mend = 'Mend the file; docs/permissions.md says what stands in it. Nothing runs here until then.';
    return [{ about, state: 'broken', says: found.problem, mend }];
  }
  const { notices, rules } = found;
  if (notices.length === 0) return [{ about, state: 'ok', says: rules === 1 ? '1 rule' : `${rules} rules` }];
  return notices.map(says => ({
    about,
    state: 'warning',
    says,
    mend: 'docs/permissions.md says what stands in the file.',
  }));
}
