import { loadSettings } from '../../../shared/config/load.ts';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { S3_SETTINGS, s3OptionsOf } from '../../../shared/objects/open-store.ts';
import type { Change, InitReport } from '../../../shared/objects/s3/init-bucket.ts';
import { EXIT, type Command } from '../command.ts';

const WORDS: Readonly<Record<Change, string>> = { written: 'written', unchanged: 'already as they should be', not_offered: 'not offered by this store' };

/** `admin storage init`: needs the settings of the bucket and no running service. Exit code 1 when the store does not keep what is relied on. */
export const storageInit: Command = {
  name: 'storage init',
  usage: '[--json]',
  summary: 'Makes the S3 bucket ready: creates it, writes its lifecycle, CORS and policy rules, and tries the store out. Safe to repeat.',
  options: { json: { type: 'boolean' } },
  arguments: [],
  async run(values) {
    const settings = loadSettings(process.env, [...S3_SETTINGS, 'UPLOAD_WINDOW_SECONDS', 'RESULT_TTL_SECONDS']);
    const options = s3OptionsOf(settings);
    if (!options) throw new ConfigurationError(['S3_BUCKET: must be set. Without it files lie in DATA_DIR and there is no bucket to make ready.']);
    const { initBucket } = await import('../../../shared/objects/s3/init-bucket.ts');
    const report = await initBucket(options, { uploadWindowSeconds: settings.UPLOAD_WINDOW_SECONDS, resultSeconds: settings.RESULT_TTL_SECONDS });
    process.stdout.write(values['json'] === true ? `${JSON.stringify(report)}\n` : printReport(report));
    return report.problems.length === 0 ? 0 : EXIT.failed;
  },
};

function printReport({ bucket, created, lifecycle, cors, policy, problems }: InitReport): string {
  const lines = [
    `bucket ${bucket}: ${created ? 'created' : 'already there'}`,
    `lifecycle rules: ${WORDS[lifecycle]}`,
    `CORS rules: ${WORDS[cors]}`,
    `policy statements: ${WORDS[policy]}`,
    ...(problems.length === 0 ? ['The store keeps what the service relies on.'] : problems.map((problem) => `PROBLEM: ${problem}`)),
  ];
  return `${lines.join('\n')}\n`;
}
