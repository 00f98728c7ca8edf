import type { OpenApiDocument } from '../openapi/document.ts';

/** Path of the interactive reference, at the root of the server; its origin is the one that may call the API (§5.9). */
export const REFERENCE_PATH = '/reference';

/** The page loads nothing from elsewhere and runs no script that is not a file of ours; the styles set some in place. */
export const REFERENCE_SECURITY_POLICY = [
  "default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self' data:",
  "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
].join('; ');

/** Starts the reference. A key that somebody types stays in the page: nothing is written to the browser's storage. */
export const REFERENCE_SCRIPT = `window.addEventListener('load', () => {
  window.reference = SwaggerUIBundle({
    url: 'v1/openapi.json',
    dom_id: '#reference',
    deepLinking: true,
    persistAuthorization: false,
    validatorUrl: null,
    defaultModelsExpandDepth: 0,
  });
});
`;

/** The HTML page; what it refers to lies beside it, also below a path of a proxy. */
export function composeReferencePage(title: OpenApiDocument['info']['title']): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: reference</title>
<link rel="icon" type="image/png" href="reference/favicon-32x32.png">
<link rel="stylesheet" href="reference/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="reference/swagger-ui-bundle.js"></script>
<script src="reference/start.js"></script>
</body>
</html>
`;
}
