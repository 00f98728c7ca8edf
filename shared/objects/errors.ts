import { Defect, DomainError } from '../errors/errors.ts';

/** The store has no object of this key. */
export class ObjectNotFoundError extends DomainError<'object_not_found'> {
  constructor() {
    super('object_not_found', 'There is no such object.');
  }
}

/** The object is not the one that `ifMatch` names. */
export class ObjectChangedError extends DomainError<'object_changed'> {
  constructor() {
    super('object_changed', 'The object is not the one that was asked for.');
  }
}

/** Another object lies under a key that is written only once (D46). */
export class ObjectExistsError extends DomainError<'object_exists'> {
  constructor() {
    super('object_exists', 'Another file was stored here before.');
  }
}

/** The body is longer than allowed; `details.max_bytes` says how long it may be (§8). */
export class ObjectTooLargeError extends DomainError<'object_too_large'> {
  constructor(maxBytes: number) {
    super('object_too_large', `The file is larger than ${maxBytes} bytes.`, { max_bytes: maxBytes });
  }
}

/** The body broke off, or has another length than was declared. Nothing was stored. */
export class IncompleteBodyError extends DomainError<'incomplete_body'> {
  constructor(options?: ErrorOptions) {
    super('incomplete_body', 'The file did not arrive completely.');
    if (options?.cause !== undefined) this.cause = options.cause;
  }
}

/** This multipart upload is not open: completed, aborted, or never begun (§4.4). */
export class MultipartNotFoundError extends DomainError<'multipart_not_found'> {
  constructor() {
    super('multipart_not_found', 'There is no such multipart upload.');
  }
}

/** A part that is to be assembled is not there, or is another one; `details.part_number` names it (D45). */
export class PartMismatchError extends DomainError<'part_mismatch'> {
  constructor(partNumber: number) {
    super('part_mismatch', `Part ${partNumber} is not the one that was uploaded.`, { part_number: partNumber });
  }
}

/**
 * What the store holds under a key is not what was stored: its description is missing, or does not fit the bytes. It
 * stays so, however often it is read; whoever reads for a job can end it, to all others it is a defect.
 */
export class ObjectDamagedError extends Defect {}
