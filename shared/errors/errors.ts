/**
 * The four kinds of error there are. Whoever catches one decides by class and `code`, never by message.
 * `DomainError`: the caller's fault, answered 4xx. `ConflictError`: somebody else appended first. `TransientError`: a
 * dependency is away, worth a retry. `Defect`: an invariant is broken, a person must look.
 */
export abstract class CodedError extends Error {
  /** Stable, lower snake case; safe to use in metrics and branches. */
  abstract readonly code: string;
  override get name(): string {
    return this.constructor.name;
  }
}

/** A command the domain refuses. `details` may be shown to the client (§7). */
export class DomainError<Code extends string = string> extends CodedError {
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;
  constructor(code: Code, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The aggregate has another event at the version we wanted to write. */
export class ConflictError extends CodedError {
  readonly code = 'version_conflict';
}

/** Which dependency is away; reported by name in `/readyz` and logs. */
export type Dependency = 'nats' | 'postgres' | 'storage' | 'ledger' | 'importer' | 'converter' | 'read_model';

/** A dependency did not answer in time. Retry with jitter; HTTP answers 503 with `Retry-After` (D4). */
export class TransientError extends CodedError {
  readonly code = 'dependency_unavailable';
  readonly dependency: Dependency;
  constructor(dependency: Dependency, message: string, options?: ErrorOptions) {
    super(message, options);
    this.dependency = dependency;
  }
}

/** An invariant does not hold. Never retried blindly; HTTP answers 500 without detail. */
export class Defect extends CodedError {
  readonly code = 'defect';
}

/** Bad configuration: every problem at once, process exit code 78 (EX_CONFIG). */
export class ConfigurationError extends CodedError {
  readonly code = 'bad_configuration';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}
