/** Shorter texts are too common to be masked, and too short to be secrets. */
const minLength = 4

/** Returns a function that replaces each secret, and its base64, URL and JSON forms, by `***`. */
export function masking(secrets: string[]): (text: string) => string {
  const forms = new Set(secrets.flatMap(formsOf).filter((form) => form.length >= minLength))
  if (forms.size === 0) return (text) => text
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
  return (text) => text.replace(pattern, '***')
}

const formsOf = (secret: string) => [
  secret,
  // a secret of several lines shows up in a log line by line
  ...secret.split('\n').map((line) => line.trim()),
  ...base64Of(secret),
  ...base64Of(`${secret}\n`), // as `echo` writes it
  encodeURIComponent(secret),
  new URLSearchParams({ '': secret }).toString().slice(1),
  JSON.stringify(secret).slice(1, -1),
]

/** Without the padding, which not everyone writes; and in lines of 76, as `base64` prints it. */
function base64Of(text: string) {
  const encoded = Buffer.from(text).toString('base64').replace(/=+$/, '')
  const urlSafe = Buffer.from(text).toString('base64url')
  return [encoded, urlSafe, ...(encoded.match(/.{1,76}/g) ?? [])]
}
