import { expect } from 'chai';
import { loadSettings } from '../../../shared/config/load.ts';
import { ConfigurationError } from '../../../shared/errors/errors.ts';
import { OBJECT_SETTINGS, s3OptionsOf } from '../../../shared/objects/open-store.ts';
import { lifecycleRules, mergeRules, saysTheSame } from '../../../shared/objects/s3/bucket-rules.ts';
import { uploadSignatureSeconds } from '../../../shared/objects/s3/sign.ts';
import { expectFailure } from '../../support/expect-failure.ts';

const DAY_SECONDS = 86_400;
const BUCKET = { S3_BUCKET: 'files', S3_REGION: 'us-east-1', S3_ACCESS_KEY_ID: 'AKIAEXAMPLE', S3_SECRET_ACCESS_KEY: 'secret' };

describe('The rules of a bucket', () => {
  it('never remove what is still needed, however long results are kept', () => {
    expect(daysOf(DAY_SECONDS)).to.deep.equal([2, 2]);
    expect(daysOf(DAY_SECONDS + 1)).to.deep.equal([2, 3]);
    expect(daysOf(60)).to.deep.equal([2, 2]);
  });

  it('take the place of our earlier ones and leave those of others', () => {
    const merged = mergeRules([{ id: 'theirs', n: 1 }, { id: 'ours', n: 1 }], [{ id: 'ours', n: 2 }], ({ id }) => id);
    expect(merged).to.deep.equal([{ id: 'theirs', n: 1 }, { id: 'ours', n: 2 }]);
  });

  it('are compared by what they say', () => {
    expect(saysTheSame([{ a: 1, b: { c: 2 } }], [{ b: { c: 2, d: undefined }, a: 1 }])).to.equal(true);
    expect(saysTheSame([{ a: 1 }], [{ a: 2 }])).to.equal(false);
  });
});

describe('The settings of a bucket', () => {
  it('ask for path style only when it is set', () => {
    expect(s3OptionsOf(loadSettings(BUCKET, OBJECT_SETTINGS))).to.deep.include({ bucket: 'files', forcePathStyle: false });
    expect(s3OptionsOf(loadSettings({ ...BUCKET, S3_FORCE_PATH_STYLE: 'true' }, OBJECT_SETTINGS))).to.deep.include({ forcePathStyle: true });
    expect(s3OptionsOf(loadSettings({}, OBJECT_SETTINGS))).to.equal(undefined);
  });

  it('are refused with link times that S3 cannot sign', async () => {
    const lifetimes = loadSettings({ RESULT_TTL_SECONDS: '604801', UPLOAD_URL_TTL_SECONDS: '700000' }, OBJECT_SETTINGS);
    const failure = await expectFailure(Promise.resolve().then(() => uploadSignatureSeconds(lifetimes)), ConfigurationError);
    expect(failure.problems.map((problem) => problem.replace(/:.*/, ''))).to.deep.equal(['UPLOAD_URL_TTL_SECONDS', 'RESULT_TTL_SECONDS']);
  });

  it('keep signatures of uploads young while no upload link works for more than an hour', () => {
    const lifetimes = loadSettings({}, OBJECT_SETTINGS);
    expect(uploadSignatureSeconds(lifetimes)).to.equal(3_600);
    expect(uploadSignatureSeconds({ ...lifetimes, PART_URL_TTL_SECONDS: 3_601 })).to.equal(7 * DAY_SECONDS);
  });
});

/** Days after which sources and results expire. */
function daysOf(resultSeconds: number): readonly unknown[] {
  return lifecycleRules({ uploadWindowSeconds: 7_200, resultSeconds }).map((rule) => rule.Expiration?.Days);
}
