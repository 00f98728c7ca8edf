import { z } from 'zod';
import type { Dependencies } from '../dependencies.ts';
import { jobParameters } from './job-parameters.ts';
import { sendResult } from '../files/send-result.ts';
import { takePart } from '../files/take-part.ts';
import { takeUpload } from '../files/take-upload.ts';
import type { Route } from './route.ts';

/** Files go in and out through links that carry their own authorization (§5.10); below the root of the server. */
export function fileRoutes(deps: Dependencies): readonly Route[] {
  return [uploadRoute(deps), partRoute(deps), downloadRoute(deps)];
}

const linkNote = 'Take the URL as it was given; its query is signed.';

function uploadRoute(deps: Dependencies): Route {
  return {
    method: 'PUT',
    path: '/files/source/{job_id}',
    access: 'link',
    operation: {
      operationId: 'uploadSource',
      tag: 'Files',
      summary: 'Upload the file of a job',
      description: `${linkNote} The body is the raw file. The first complete upload counts; once the service has taken it, further ones are refused with 409. So is one that begins while another is still on its way (\`upload_in_progress\`): try again later. An expired URL is answered with 403.`,
      parameters: jobParameters,
      body: ['application/octet-stream', '*/*'],
      success: { 200: { description: 'The file is stored.', headers: { ETag: 'Entity tag of the stored file.' } } },
      errors: { 400: ['validation_failed'], 403: ['unauthorized'], 404: ['not_found'], 409: ['validation_failed'], 413: ['file_too_large'] },
    },
    handle: (ctx) => takeUpload(deps, ctx),
  };
}

function partRoute(deps: Dependencies): Route {
  return {
    method: 'PUT',
    path: '/files/source/{job_id}/parts/{part_number}',
    access: 'link',
    operation: {
      operationId: 'uploadPart',
      tag: 'Files',
      summary: 'Upload one part of the file of a job',
      description: `${linkNote} The body is the raw bytes of the part, with their exact length in \`Content-Length\`. Keep the \`ETag\` of the answer: completing the upload needs it. A part may be sent again; the last whole one counts. 403: the URL has expired or was changed. 404: the upload was discarded. 409: the job has its file, or has ended, or (\`upload_in_progress\`) the same part is still on its way.`,
      parameters: jobParameters.extend({ part_number: z.string().describe('Part of the URL as it was given.') }),
      body: ['application/octet-stream', '*/*'],
      success: { 200: { description: 'The part is stored.', headers: { ETag: 'Entity tag of the part.' } } },
      errors: { 400: ['validation_failed'], 403: ['unauthorized'], 404: ['not_found'], 409: ['validation_failed'], 411: ['validation_failed'], 413: ['file_too_large'] },
    },
    handle: (ctx) => takePart(deps, ctx),
  };
}

function downloadRoute(deps: Dependencies): Route {
  return {
    method: 'GET',
    path: '/files/result/{job_id}/{attempt}',
    access: 'link',
    operation: {
      operationId: 'downloadResult',
      tag: 'Files',
      summary: 'Download a result',
      description: `${linkNote} One range of bytes may be asked for. 404 once the result has expired or the job was deleted.`,
      parameters: jobParameters.extend({ attempt: z.string().describe('Part of the URL as it was given.') }),
      success: {
        200: { description: 'The file, as the media type of its format.', body: ['*/*'], headers: DOWNLOAD_HEADERS },
        206: { description: 'The range that was asked for.', body: ['*/*'], headers: { ...DOWNLOAD_HEADERS, 'Content-Range': 'Which bytes these are.' } },
        304: { description: 'The file is still the one that `If-None-Match` names.', headers: { ETag: 'Entity tag of the file.' } },
      },
      errors: { 404: ['not_found'], 416: ['validation_failed'] },
    },
    handle: (ctx) => sendResult(deps, ctx),
  };
}

const DOWNLOAD_HEADERS = {
  ETag: 'Entity tag of the file.',
  'Accept-Ranges': 'Always `bytes`.',
  'Content-Disposition': '`attachment` for html, svg, xml and pdf, else `inline`.',
};
