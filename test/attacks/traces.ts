import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { askEngine } from '../support/machine/engine.ts'

/** Its history and settings, and every file of every layer. */
export async function contentsOfImage(image: string) {
  const name = encodeURIComponent(image)
  const [history, settings, layers] = await Promise.all(
    ['history', 'json', 'get'].map((what) => askEngine(`/images/${name}/${what}`)),
  )
  const parts = [history!, settings!, layers!].map((answer) => answer.arrayBuffer())
  return Buffer.concat((await Promise.all(parts)).map((part) => new Uint8Array(part)))
}

/** All that anyone who may look at it sees, but the environment that it has for itself. */
export async function contentsOfContainer(id: string) {
  const answer = await askEngine(`/containers/${id}/json`)
  const { Config, ...container } = (await answer.json()) as { Config: { Env: string[] } }
  const { Env, ...config } = Config
  return { environment: Env.join('\n'), rest: JSON.stringify({ ...container, config }) }
}

/** What can be read there: sockets and links that lead nowhere can't. */
export function filesIn(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return readdirSync(path).flatMap((name) => filesIn(join(path, name)))
  return found?.isFile() ? [path] : []
}
