import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Defect } from '../../../shared/errors/errors.ts';
import { checkPrefix, isWrittenOnce, parseKey, resultKey, resultPrefix, sourceKey } from '../../../shared/objects/keys.ts';

describe('object keys', () => {
  const jobId = randomUUID();

  it('say what they are', () => {
    expect(parseKey(sourceKey(jobId))).to.deep.equal({ kind: 'source', key: `source/${jobId}`, job_id: jobId });
    expect(parseKey(resultKey(jobId, 12))).to.deep.equal({ kind: 'result', key: `result/${jobId}/12`, job_id: jobId, attempt: 12 });
    expect([isWrittenOnce(sourceKey(jobId)), isWrittenOnce(resultKey(jobId, 1))]).to.deep.equal([true, false]);
  });

  it('are made of our own ids and of nothing else', () => {
    for (const id of ['', '..', '../../etc/passwd', jobId.toUpperCase(), `${jobId}/x`, `{${jobId}}`]) {
      expect(() => sourceKey(id)).to.throw(Defect);
      expect(() => resultKey(id, 1)).to.throw(Defect);
      expect(() => resultPrefix(id)).to.throw(Defect);
    }
    for (const attempt of [0, -1, 1.5, 1000, Number.NaN]) expect(() => resultKey(jobId, attempt)).to.throw(Defect);
    for (const prefix of ['result/../', `result/${jobId}/x/`] as const) expect(() => checkPrefix(prefix)).to.throw(Defect);
  });

  it('have one spelling', () => {
    for (const text of [`source/${jobId}/`, `source/${jobId}/1`, `result/${jobId}`, `result/${jobId}/01`, `result/${jobId}/1/2`, `/source/${jobId}`, `other/${jobId}`]) expect(parseKey(text)).to.equal(undefined);
  });
});
