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

/** A secret of several lines shows up in a log line by line. */
const formsOf = (secret: string) => [
  secret,
  ...secret.split('\n').map((line) => line.trim()),
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
]
