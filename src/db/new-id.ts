/** Milliseconds since 1970, of the newest id. */
let latest = 0

/** A new id (UUID version 7), after every other one of this database, also when the clock was put back. */
export function newId() {
  const now = Date.now()
  if (now >= latest) latest = now
  else latest++
  return Bun.randomUUIDv7('hex', latest)
}

/** The ids to come stand after this one, which an earlier process has made; '' is none. */
export function continueAfter(id: string) {
  const time = parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  if (time >= latest) latest = time + 1
}
