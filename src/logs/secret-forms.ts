/** A secret as it is, and as it shows up in logs: line by line, encoded, escaped. */
export function* formsOf(secret: string): Generator<string> {
  yield secret
  for (const line of secret.split('\n')) yield line.trim()
  yield* base64Of(secret)
  yield* base64Of(`${secret}\n`) // as `echo` writes it
  yield encodeURIComponent(secret.toWellFormed())
  yield new URLSearchParams({ '': secret }).toString().slice(1)
  yield JSON.stringify(secret).slice(1, -1)
}

/** Without the padding, which not everyone writes; and in lines of 76, as `base64` prints it. */
function base64Of(text: string) {
  const encoded = Buffer.from(text).toString('base64').replace(/=+$/, '')
  const urlSafe = Buffer.from(text).toString('base64url')
  return [encoded, urlSafe, ...(encoded.match(/.{1,76}/g) ?? [])]
}
