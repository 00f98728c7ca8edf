import { describeSettings } from '../shared/config/load.ts';

/** The page `docs/configuration.md`, out of the schemas that parse the settings. */
export function composeConfigurationPage(): string {
  const rows = describeSettings().map(({ name, default: fallback, description }) => `| \`${name}\` | ${fallback === '' ? '' : `\`${fallback}\``} | ${description} |`);
  return `# Configuration

All settings are environment variables. They are checked when a process starts: every problem is printed and the process
ends with exit code 78. An empty variable counts as not set. This page is generated from the schemas (\`npm run docs\`).

| variable | default | what it does |
|---|---|---|
${rows.join('\n')}

The standalone edition (\`npm start\`) passes them on to the services it starts, and sets those that say where its own
servers are. \`DURABILITY_CHECK\` is \`warn\` there unless it is set to \`refuse\`.

Commands find the running service through \`DATA_DIR\`, or through \`NATS_URL\`, \`DATABASE_URL\` and \`MASTER_KEY\`.
\`npm run convert\` also takes \`BASE_URL\` and \`API_KEY\`.
`;
}
