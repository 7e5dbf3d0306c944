import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import type { Upload } from '../db/schema.ts'
import type { Git } from '../git/git.ts'
import { uploadRef } from '../git/folders.ts'
import type { Snapshot } from '../git/tools.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { refuseMore } from '../platform/limits.ts'
import { checkRoom } from '../runtime/check-room.ts'
import type { Deployment } from './store.ts'
import { countUploads, listUploads } from './upload-store.ts'

type Received = {
  ownerId: string
  body: AsyncIterable<Uint8Array>
  about: Pick<Upload, 'commit' | 'message' | 'dirty'>
  signal: AbortSignal
}

/** In bytes that arrive, between two looks at the free space. */
const lookEvery = 64 * 2 ** 20

/** Uploaded files: each is a repository of one commit, which is kept until its deployment has ended. */
export class Uploads {
  readonly #deps: { config: Config; db: Db; git: Git }
  readonly #folder: string
  /** Their owners, by id, until their deployments are stored. */
  readonly #arriving = new Map<string, string>()

  constructor(deps: { config: Config; db: Db; git: Git }) {
    this.#deps = deps
    this.#folder = join(deps.config.dataDir, 'uploads')
  }

  /** Stores an upload; `deploy` is called in the same turn in which it is complete. */
  async receive<Result>(
    { ownerId, body, about, signal }: Received,
    deploy: (upload: Upload) => Result,
  ): Promise<Result> {
    const arriving = this.#arriving.values().filter((owner) => owner === ownerId)
    refuseMore('uploads', countUploads(this.#deps.db, ownerId) + [...arriving].length)
    const id = newId()
    this.#arriving.set(id, ownerId)
    try {
      const folder = this.#pathOf(id)
      const watched = this.#whileRoom(body)
      const { files, bytes } = await this.#deps.git.importUpload({ folder, body: watched, signal })
      return deploy({ ...about, id, files, bytes })
    } finally {
      this.#arriving.delete(id)
      await this.sweep() // a refused deployment leaves its files
    }
  }

  async open({ upload, branch, triggeredBy }: Deployment): Promise<Snapshot> {
    const { id, message } = upload!
    const mirror = this.#pathOf(id)
    const hash = await Bun.file(join(mirror, uploadRef))
      .text()
      .catch(() => {
        throw gone()
      })
    const commit = { hash: hash.trim(), author: triggeredBy, message: message ?? '' }
    const ref = { branch: branch ?? 'that was uploaded', refType: null }
    return { mirror, url: '', ...ref, commit, hasHistory: false }
  }

  /** Removes those that no deployment needs any more. */
  async sweep() {
    const found = existsSync(this.#folder) ? readdirSync(this.#folder) : []
    const needed = new Set([...listUploads(this.#deps.db), ...this.#arriving.keys()])
    for (const name of found)
      if (!needed.has(name.replace(/\.git$/, '')))
        await rm(join(this.#folder, name), { recursive: true, force: true }).catch((error) =>
          report('an upload could not be removed', error),
        )
  }

  #pathOf = (id: string) => join(this.#folder, `${id}.git`)

  async *#whileRoom(body: AsyncIterable<Uint8Array>) {
    let bytes = lookEvery
    for await (const chunk of body) {
      if (bytes >= lookEvery) {
        bytes = 0
        await checkRoom(this.#deps.config.dataDir, { whose: 'Davit', what: 'a build' })
      }
      bytes += chunk.length
      yield chunk
    }
  }
}

const gone = () =>
  new Failure(
    'upload_gone',
    'The uploaded files aren’t on this server any more.',
    'They are kept until their deployment has ended, and aren’t part of a backup. Upload them again with davit deploy.',
  )
