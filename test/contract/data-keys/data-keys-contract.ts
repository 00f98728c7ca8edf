import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Defect } from '../../../shared/errors/errors.ts';
import { DataKeyDestroyedError, jobKeyName, organizationKeyName, type DataKeys } from '../../../shared/privacy/data-keys.ts';
import { open, seal } from '../../../shared/privacy/seal.ts';
import { expectFailure } from '../../support/expect-failure.ts';

/** What every store of data keys does; each implementation passes it. */
export function describeDataKeys(name: string, given: () => DataKeys): void {
  describe(`data keys: ${name}`, () => {
    it('makes a key once and gives the same one to every later call', async () => {
      const keyName = jobKeyName(randomUUID());
      expect(await given().get(keyName)).to.equal(undefined);
      const key = await given().create(keyName);
      expect(key.symmetricKeySize).to.equal(32);
      expect((await given().create(keyName)).equals(key)).to.equal(true);
      expect((await given().get(keyName))?.equals(key)).to.equal(true);
    });

    it('gives racing creators one key', async () => {
      const keyName = jobKeyName(randomUUID());
      const keys = await Promise.all(Array.from({ length: 10 }, () => given().create(keyName)));
      expect(new Set(keys.map((key) => key.export().toString('hex')))).to.have.lengthOf(1);
    });

    it('makes another key for another name', async () => {
      const id = randomUUID();
      const [job, organization] = [await given().create(jobKeyName(id)), await given().create(organizationKeyName(id))];
      expect(job.equals(organization)).to.equal(false);
    });

    it('forgets a destroyed key for good, and what it sealed with it', async () => {
      const keyName = jobKeyName(randomUUID());
      const sealed = seal(await given().create(keyName), 'tag', 'place');
      await given().destroy(keyName);
      expect(await given().get(keyName)).to.equal(undefined);
      await expectFailure(given().create(keyName), DataKeyDestroyedError);
      await given().destroy(keyName);
      const another = await given().create(jobKeyName(randomUUID()));
      expect(() => open(another, sealed, 'place')).to.throw(Defect);
    });

    it('takes no name that is not made of one of our ids', () => {
      expect(() => jobKeyName('*')).to.throw(Defect);
      expect(() => organizationKeyName('a.b')).to.throw(Defect);
    });
  });
}
