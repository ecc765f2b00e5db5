import { expect, it } from 'vitest';
import { toolTitle } from './tool-text.ts';

it.each([
  ['ls', { path: '/w' }, 'List .'],
  ['ls', { path: '/w/' }, 'List .'],
  ['read', { path: '/work/a' }, 'Read /work/a'],
  ['grep', { pattern: 'a b', path: '/w/src' }, 'Search a b in src'],
  ['grep', { pattern: 'a', path: '/w' }, 'Search a'],
  ['glob', { globPattern: '*.ts', targetDirectory: '/w/lib' }, 'Find *.ts in lib'],
  ['shell', { command: 'a &&\nb' }, 'Run a && b'],
  ['mcp', { providerIdentifier: 'github', toolName: 'list' }, 'Call github/list'],
  ['update_todos', {}, 'Update todos'],
  ['web_search', { searchTerm: 'x' }, 'Search the web x'],
  ['', {}, 'Tool'],
])('titles %s with %j as "%s"', (name, args, title) => {
  expect(toolTitle({ type: 'tool', id: 'i', name, status: 'running', args: args as never }, '/w')).toBe(title);
});
