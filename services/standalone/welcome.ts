import { join } from 'node:path';
import { DEMO_FILE } from '../../shared/config/find-service.ts';
import { readDemo } from './demo.ts';

/** Path of the file with the keys of the demo organization. */
export function demoFilePath(dataFolder: string): string {
  return join(dataFolder, DEMO_FILE);
}

/** What is printed when everything runs. The keys are shown at the start that made them, never again. */
export function composeWelcome(dataFolder: string, publicUrl: string, isFirstStart: boolean): string {
  const demoFile = demoFilePath(dataFolder);
  const demo = readDemo(demoFile);
  const lines = ['', `Running at ${publicUrl}/v1`, `Reference  ${publicUrl}/reference`];
  if (demo === undefined) return [...lines, ''].join('\n');
  if (isFirstStart) lines.push(`Live key  ${demo.live_key}`, `Test key  ${demo.test_key}`);
  return [...lines, `Keys are kept in ${demoFile}`, '', 'Convert a photograph:', '', ...composeExample(demoFile, publicUrl), ''].join('\n');
}

function composeExample(demoFile: string, publicUrl: string): string[] {
  const tasks = {
    'my-file': { operation: 'import/upload' },
    'my-conversion': { operation: 'convert', input: 'my-file', input_format: 'jpg', output_format: 'webp' },
    'my-result': { operation: 'export/url', input: 'my-conversion' },
  };
  return [
    `  KEY=$(${pick('live_key')} < '${demoFile}')`,
    `  curl -s ${publicUrl}/v1/jobs -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    `    -d '${JSON.stringify({ tasks })}' > job.json`,
    `  curl -s -T photo.jpg "$(${pick('tasks[0].result.uploadUrl')} < job.json)"`,
    `  while curl -sf "${publicUrl}/v1/jobs/$(${pick('id')} < job.json)?wait=25" -H "Authorization: Bearer $KEY" > done.json &&`,
    `    ${pick('status')} < done.json | grep -qE 'waiting|queued|processing'; do :; done`,
    `  curl -s -o photo.webp "$(${pick('tasks[2].result.url')} < done.json)"`,
  ];
}

/** The words of a shell that read one value out of the JSON on stdin. */
function pick(path: string): string {
  return `node -pe 'JSON.parse(require("fs").readFileSync(0)).${path}'`;
}
