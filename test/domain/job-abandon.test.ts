import { jobDecider } from '../../shared/domain/job.ts';
import { specify } from '../support/decider-spec.ts';
import { cancelled, created, deleted, HISTORIES } from '../support/job-events.ts';

const given = specify(jobDecider);

describe('abandoning a job whose credits are held', () => {
  it('takes its id out of use when it was not created', () => {
    given([]).when({ type: 'abandon' }).thenDecides(deleted(true));
  });

  it('leaves a job alone that exists or existed', () => {
    for (const [name, events] of Object.entries(HISTORIES)) {
      if (name !== 'nothing') given(events).when({ type: 'abandon' }).thenDecides(null);
    }
    given([deleted(true)]).when({ type: 'abandon' }).thenDecides(null);
  });

  it('makes it impossible to create the job later, and there is nothing to cancel or delete', () => {
    given([deleted(true)]).when({ type: 'create', data: created().data }).thenRefused('already_exists');
    given([deleted(true)]).when({ type: 'cancel' }).thenRefused('not_found');
    given([deleted(true)]).when({ type: 'delete' }).thenRefused('not_found');
    given([created(), cancelled, deleted(false)]).when({ type: 'create', data: created().data }).thenRefused('already_exists');
  });
});
