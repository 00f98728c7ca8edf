import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { composeVectors, composeVectorsFile, type WebhookVector } from '../../../docs/webhook-vectors.ts';
import { findTool } from '../../../shared/tools/find-tool.ts';
import { runProgram } from '../../support/run-program.ts';

const DOCS = join(import.meta.dirname, '../../../docs');
const TOLERANCE_SECONDS = 300;

const NODE_DRIVER = `
import { readFileSync } from 'node:fs';
const { vectors } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
console.log(JSON.stringify(vectors.map(({ secrets, headers, body, now }) => isGenuine(secrets, headers['Service-Signature'], Buffer.from(body), now))));
`;
const PYTHON_DRIVER = `
import json
import sys
with open(sys.argv[1], encoding="utf-8") as file:
    vectors = json.load(file)["vectors"]
print(json.dumps([is_genuine(v["secrets"], v["headers"]["Service-Signature"], v["body"].encode(), v["now"]) for v in vectors]))
`;
const GO_DRIVER = `
func main() {
	bytes, _ := os.ReadFile(os.Args[1])
	var file struct{ Vectors []struct { Secrets []string; Now int64; Headers map[string]string; Body string } }
	if err := json.Unmarshal(bytes, &file); err != nil { panic(err) }
	verdicts := []bool{}
	for _, v := range file.Vectors { verdicts = append(verdicts, IsGenuine(v.Secrets, v.Headers["Service-Signature"], []byte(v.Body), v.Now)) }
	out, _ := json.Marshal(verdicts)
	fmt.Println(string(out))
}
`;

/** The sample under a heading of the page. */
function sampleOf(language: string): string {
  const page = readFileSync(join(DOCS, 'webhooks.md'), 'utf8');
  const [, sample] = new RegExp(`^### ${language}\\n.*?^\`\`\`\\w+\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  if (sample === undefined) throw new Error(`the page has no sample for ${language}`);
  return sample;
}

describe('docs/webhooks.md', function () {
  this.timeout(120_000);
  const vectors = composeVectors();
  const expected = vectors.map(({ genuine }) => genuine);
  const file = join(DOCS, 'webhook-vectors.json');
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'webhook-samples-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a sample over all vectors; undefined where its language is not installed. */
  async function verdictsOf(name: string, text: string, command: readonly [string, ...string[]]): Promise<unknown> {
    const path = join(folder, name);
    await writeFile(path, text);
    const [program, ...args] = command;
    if (program !== process.execPath && findTool(program) === undefined) return undefined;
    const ended = await runProgram(program, [...args, path, file], { cwd: folder, environment: { GOCACHE: join(folder, 'go') } });
    expect(ended.code, ended.stderr).to.equal(0);
    return JSON.parse(ended.stdout);
  }

  it('has vectors that are as the service signs; run "npm run docs" when this fails (§6 signature)', () => {
    expect(readFileSync(file, 'utf8')).to.equal(composeVectorsFile());
    expect(new Set(expected)).to.deep.equal(new Set([true, false]));
  });

  it('has vectors that follow from the words of the contract alone (§6 signature 1, §6 signature 2, §6 signature 3, §6 signature 4)', () => {
    for (const vector of vectors) {
      expect(takesByContract(vector), vector.name).to.equal(vector.genuine);
      expect(takesByStandard(vector), `${vector.name}, by Standard Webhooks`).to.equal(vector.genuine);
    }
  });

  it('has a sample for Node that takes and refuses what it must (§6 signature)', async () => {
    expect(await verdictsOf('sample.mjs', sampleOf('Node') + NODE_DRIVER, [process.execPath])).to.deep.equal(expected);
  });

  it('has a sample for Python that takes and refuses what it must (§6 signature)', async function () {
    const verdicts = await verdictsOf('sample.py', sampleOf('Python') + PYTHON_DRIVER, ['python3']);
    if (verdicts === undefined) this.skip();
    expect(verdicts).to.deep.equal(expected);
  });

  it('has a sample for Go that takes and refuses what it must (§6 signature)', async function () {
    const sample = sampleOf('Go').replace('package webhooks', 'package main').replace('import (', 'import (\n\t"encoding/json"\n\t"fmt"\n\t"os"');
    const verdicts = await verdictsOf('sample.go', sample + GO_DRIVER, ['go', 'run']);
    if (verdicts === undefined) this.skip();
    expect(verdicts).to.deep.equal(expected);
  });

  it('has a sample for the shell that takes and refuses what it must (§6 signature)', async () => {
    const bodies = await Promise.all(vectors.map(async ({ body }, index) => {
      const path = join(folder, `body-${index}`);
      await writeFile(path, body);
      return path;
    }));
    const calls = vectors.map(({ secrets, headers, now }, index) => {
      const tries = secrets.map((secret) => `is_genuine '${secret}' '${headers['Service-Signature']}' '${bodies[index]}' ${now}`);
      return `if ${tries.join(' || ')}; then echo true; else echo false; fi`;
    });
    const { code, stdout, stderr } = await runProgram('sh', ['-c', [sampleOf('Shell'), ...calls].join('\n')]);
    expect(code, stderr).to.equal(0);
    expect(stdout.trimEnd().split('\n')).to.deep.equal(expected.map(String));
  });
});

/** Written after the contract, and not after the code that signs. */
function takesByContract({ secrets, headers, body, now }: WebhookVector): boolean {
  const fields = headers['Service-Signature'].split(',');
  const time = fields.find((field) => field.startsWith('t='))?.slice(2) ?? '';
  const given = new Set(fields.filter((field) => field.startsWith('v1=')).map((field) => field.slice(3)));
  const isRecent = time !== '' && Math.abs(now - Number(time)) <= TOLERANCE_SECONDS;
  return isRecent && secrets.some((secret) => given.has(createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${time}.${body}`).digest('hex')));
}

/** The same after the specification of Standard Webhooks. */
function takesByStandard({ secrets, headers, body, now }: WebhookVector): boolean {
  const time = headers['webhook-timestamp'];
  const given = headers['webhook-signature'].split(' ');
  const isRecent = time !== '' && Math.abs(now - Number(time)) <= TOLERANCE_SECONDS;
  return isRecent && secrets.some((secret) => given.includes(`v1,${createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64')).update(`${headers['webhook-id']}.${time}.${body}`).digest('base64')}`));
}
