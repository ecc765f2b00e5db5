// Ends with one clear sentence when this Node is older than the one that the repository needs. Plain JavaScript for old versions.
const LEAST = [22, 19];

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < LEAST[0] || (major === LEAST[0] && minor < LEAST[1])) {
  process.stderr.write(
    'Tandem needs Node ' +
      LEAST.join('.') +
      ' or newer, and this is Node ' +
      process.versions.node +
      ' (' +
      process.execPath +
      '). ' +
      'Run "npm ci", which brings one for Linux and Windows, and start it by "npm start", "npm test" or "npm run".\n',
  );
  process.exit(1);
}
