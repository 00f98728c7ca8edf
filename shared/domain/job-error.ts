import type { EventData } from '../events/registry.ts';

type JobError = EventData<'job.failed'>['error'];

/** What a person can do about it, by cause (D38). The log holds the cause, so wording may improve at any time. */
export const MESSAGE_OF_CAUSE: Readonly<Record<NonNullable<JobError['cause']>, string>> = {
  empty_file: 'The file is empty. Create a new job and upload the whole file.',
  not_what_it_claims: 'The file is not in the format that input_format names. Create a job with the right input_format.',
  damaged: 'The file is damaged or incomplete. Check that it opens elsewhere, and create a new job for it.',
  too_many_pixels: 'The image has too many pixels. Scale it down below 100 megapixels.',
  too_many_frames: 'Too many frames: at most 500 can be converted. Of a film take a part with the options start and duration, or fewer frames with fps.',
  page_not_found: 'The file has no page of the number that the option page names.',
  too_many_pages: 'The document has too many pages. Split it, or take a part of it with the option pages.',
  too_many_cells: 'The spreadsheet has too many cells. Split it.',
  too_much_text: 'The text is too long. Split it.',
  sheet_not_found: 'The workbook has no sheet of the number that the option sheet names.',
  too_long: 'The recording is too long. Take a part of it with the options start and duration.',
  unpacks_too_large: 'The file unpacks to more than is allowed.',
  password_required: 'The file is protected by a password. Give it in the option password.',
  wrong_password: 'The password in the option password does not open the file.',
  cannot_be_unlocked: 'The file is protected by a password, which cannot be given for this format. Save it without one.',
  no_text: 'The file holds no text, or only pictures of it.',
  no_audio: 'The file has no sound.',
  no_video: 'The file has no moving picture.',
  start_after_end: 'The option start lies behind the end of the recording.',
  timeout: 'The conversion took too long and was stopped. Try a smaller file or a cheaper option.',
  out_of_memory: 'The conversion needed too much memory. Try a smaller file.',
  result_too_large: 'The result would be too large. Try smaller dimensions or a stronger compression.',
  engine_crashed: 'The converter broke on this file. It may be damaged.',
  unsupported_feature: 'The file uses a feature that cannot be converted.',
  worker_died: 'The conversion was interrupted too often. Create the job again.',
  source_missing: 'The uploaded file is no longer there. Create the job again.',
  source_damaged: 'The uploaded file could not be read any more. Create the job again.',
};

const BY_CODE: Readonly<Record<JobError['code'], string>> = {
  internal: 'The conversion failed.',
  file_too_large: 'The file is larger than allowed.',
  url_import_failed: 'The file could not be fetched from its URL.',
};

/** Why a URL could not be fetched. Nothing of what the other side said is repeated. */
const BY_REASON: Readonly<Partial<Record<NonNullable<JobError['reason']>, string>>> = {
  blocked_address: 'The URL, or a redirect from it, leads to an address that is not public.',
  not_https: 'A redirect from the URL leads to one that is not https.',
  invalid_url: 'The URL, or a redirect from it, is not valid.',
  timeout: 'The file could not be fetched in time.',
  too_many_redirects: 'The URL redirects more than three times.',
  http_status: 'The host of the URL answered with another status than 200.',
  network: 'The host of the URL could not be reached, or broke off.',
};

/** The text of an error on a job (§7); clients branch on code and details, never on this. */
export function jobErrorMessage(error: JobError): string {
  if (error.code === 'url_import_failed' && error.reason !== undefined) return BY_REASON[error.reason] ?? BY_CODE[error.code];
  return error.cause === undefined ? BY_CODE[error.code] : MESSAGE_OF_CAUSE[error.cause];
}
