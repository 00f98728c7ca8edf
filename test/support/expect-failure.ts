import { expect } from 'chai';

/** Class of an error, however it is constructed. */
type ErrorClass<Failure extends Error> = abstract new (...parameters: never[]) => Failure;

/** The error with which a promise fails; the test fails when the promise does not, or with an error of another class. */
export async function expectFailure<Failure extends Error>(promise: Promise<unknown>, kind: ErrorClass<Failure>): Promise<Failure> {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).to.be.instanceOf(kind);
  return outcome as Failure;
}
