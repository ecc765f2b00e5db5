import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { RequestContextSchema } from '@tandem/protocol/agent';
import { describe, expect, it } from 'vitest';
import { workspaceNote } from './workspace-note.ts';

const NOON = Date.UTC(2026, 4, 1, 12);
const note = (context: MessageInitShape<typeof RequestContextSchema>, now = NOON) =>
  workspaceNote(create(RequestContextSchema, context), now);
const rule = (fullPath: string, content: string, type?: string, value: object = {}) =>
  ({ fullPath, content, ...(type && { type: { type: { case: type, value } } }) }) as never;

describe('the note on the workspace (§9)', () => {
  it('says that it is from the system, and where the work is', () => {
    const text = note({
      env: {
        osVersion: 'linux 6.1',
        shell: 'zsh',
        workspacePaths: ['/w/one', '/w/two'],
        terminalsFolder: '/w/.t',
        timeZone: 'UTC',
        processWorkingDirectory: '/w/one/sub',
      },
    });
    expect(text.split('\n')).toEqual([
      expect.stringContaining('from the system, not from the user'),
      '<workspace>',
      '<environment>',
      'Operating system: linux 6.1',
      'Shell: zsh',
      'Workspace: /w/one',
      'Further workspaces: /w/two',
      'Working directory: /w/one/sub',
      'Terminal files: /w/.t',
      'Time zone: UTC',
      "Today's date: 2026-05-01",
      '</environment>',
      '</workspace>',
    ]);
  });

  it('is the same text all day, and another the next day (R47)', () => {
    const env = { env: { timeZone: 'UTC', workspacePaths: ['/w'] } };
    expect(note(env, NOON + 3_600_000)).toBe(note(env, NOON));
    expect(note(env, NOON + 86_400_000)).not.toBe(note(env, NOON));
  });

  it("has the date of the client's own day, and of UTC when its zone is unknown", () => {
    const late = Date.UTC(2026, 4, 1, 22);
    expect(note({ env: { timeZone: 'Asia/Tokyo' } }, late)).toContain('2026-05-02');
    expect(note({ env: { timeZone: 'Mars/Olympus' } }, late)).toContain('2026-05-01');
  });

  it('has rules by what they are for', () => {
    const text = note({
      rules: [
        rule('/r/always.md', 'Be brief.', 'global'),
        rule('/r/ts.md', 'No any.', 'fileGlobbed', { globs: ['*.ts', '*.tsx'] }),
        rule('/r/db.md', 'never shown', 'agentFetched', { description: 'working on the database' }),
        rule('/r/hand.md', 'by hand only', 'manuallyAttached'),
        rule('/r/off.md', 'switched off', 'global'),
      ],
      nonFileRules: [rule('team', 'Be kind.')],
      cloudRule: 'Be careful.',
      disabledTeamRules: ['/r/off.md'],
    });
    expect(text).toContain('<rule path="/r/always.md">\nBe brief.\n</rule>');
    expect(text).toContain('<rule path="/r/ts.md" for="*.ts, *.tsx">\nNo any.\n</rule>');
    expect(text).toContain(
      '<rule path="/r/db.md">Read this file when it fits the work: working on the database</rule>',
    );
    for (const shown of ['Be kind.', 'Be careful.']) expect(text).toContain(shown);
    for (const hidden of ['never shown', 'by hand only', 'switched off']) expect(text).not.toContain(hidden);
  });

  it('cuts a rule and a folder tree that would crowd out the work, and says so', () => {
    const long = note({ rules: [rule('/r/long.md', 'x'.repeat(60_010), 'global')] });
    expect(long).toContain('[cut: 10 characters more in the file]');
    const childrenFiles = Array.from({ length: 300 }, (_, at) => ({ name: `file${at}` }));
    const tree = note({
      projectLayouts: [
        { absPath: '/w', childrenFiles, childrenDirs: [{ absPath: '/w/src', childrenFiles: [{ name: 'a.ts' }] }] },
      ],
    });
    expect(tree).toContain('/w/\n  src/\n    a.ts\n  file0\n');
    expect(tree).toContain('[cut: 103 lines more]');
  });

  it('has git, skills, MCP instructions, hooks, notes and files, each only when there is one', () => {
    const text = note({
      gitRepos: [{ path: '/w', branchName: 'main', status: ' M a.txt' }],
      agentSkills: [
        { fullPath: '/s/pdf.md', description: 'reads PDF files' },
        { fullPath: '/s/secret.md', description: 'only for people', disableModelInvocation: true },
      ],
      skillOptions: {
        skillDescriptors: [
          { name: 'deploy', description: 'ships it', readmeFilePath: '/s/deploy.md' },
          { name: 'pdf', description: 'twice', readmeFilePath: '/s/pdf.md' },
        ],
      },
      mcpInstructions: [{ serverName: 'Zoo', serverIdentifier: 'zoo', instructions: 'Feed first.' }],
      hooksAdditionalContext: 'The build is red.',
      conversationNotesListing: 'note 1',
      fileContents: { 'a.txt': 'hi file' },
    });
    for (const shown of [
      '<git path="/w">\nBranch: main\nStatus when the turn began:\n M a.txt\n</git>',
      '/s/pdf.md: reads PDF files',
      'deploy: ships it',
      '<mcp_instructions server="zoo">\nFeed first.\n</mcp_instructions>',
      '<hooks>\nThe build is red.\n</hooks>',
      '<notes>\nnote 1\n</notes>',
      '<file path="a.txt">\nhi file\n</file>',
    ]) {
      expect(text).toContain(shown);
    }
    for (const hidden of ['only for people', 'twice', '<environment>', '<rules>']) expect(text).not.toContain(hidden);
    expect(note({})).toMatch(/<workspace>\n\n<\/workspace>$/);
  });
});
