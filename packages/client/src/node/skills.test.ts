import { expect, it } from 'vitest';
import { makeMachine } from '../../test/machine.ts';
import { readSkills, readSubagents } from './skills.ts';

it('[§9-skills] finds the skills of a workspace with what their heads say', async () => {
  const { root, file } = makeMachine({
    '.cursor/skills/deploy/SKILL.md': '---\nname: deploy\ndescription: "How to deploy"\n---\nRun it.\n',
    '.claude/skills/deploy/SKILL.md': 'another of this name',
    '.claude/skills/plain/SKILL.md': 'No head.',
    '.cursor/skills/empty/notes.txt': 'x',
  });
  expect(await readSkills(root)).toMatchObject([
    { fullPath: file('.cursor/skills/deploy/SKILL.md'), description: 'How to deploy', content: 'Run it.\n' },
    { fullPath: file('.claude/skills/plain/SKILL.md'), description: '', content: 'No head.' },
  ]);
});

it('[R64-subagents] finds the subagents of a workspace, whose body is the prompt', async () => {
  const { root, file } = makeMachine({
    '.cursor/agents/reviewer.md':
      '---\ndescription: Reviews\nmodel: small\nreadonly: true\ntools: Read, Grep\n---\nReview it.\n',
    '.claude/agents/plain.md': 'Be plain.',
    '.cursor/agents/notes.txt': 'x',
  });
  expect(await readSubagents(root)).toMatchObject([
    {
      fullPath: file('.cursor/agents/reviewer.md'),
      name: 'reviewer',
      model: 'small',
      prompt: 'Review it.',
      permissionMode: 2,
      tools: ['Read', 'Grep'],
    },
    { name: 'plain', model: 'inherit', prompt: 'Be plain.', permissionMode: 1 },
  ]);
  expect(await readSubagents(makeMachine().root)).toEqual([]);
});
