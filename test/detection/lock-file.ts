import { connectDocker } from '../../src/docker/index.ts'
import { buildTestImage } from '../support/images.ts'
import { askEngine } from '../support/machine/engine.ts'
import { filesOf } from './real-app.ts'
import type { RealApp } from './real-app.ts'

/** The files of an app, with the lock file that is made for it. */
export async function withLock(app: RealApp): Promise<Record<string, string>> {
  const files = filesOf(app)
  if (!app.lock) return files
  const { file, command } = app.lock
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const tag = `davit-test-lock-${app.name}`
  const dockerfile = `FROM ${app.images[0]}\nWORKDIR /locked\nCOPY . .\nRUN ${command}`
  await buildTestImage(docker, { tag, dockerfile, files })
  const created = await askEngine('/containers/create', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ Image: tag, Cmd: ['none'] }),
  })
  const { Id } = (await created.json()) as { Id: string }
  try {
    const answer = await askEngine(`/containers/${Id}/archive?path=/locked/${file}`)
    return { ...files, [file]: onlyFileIn(Buffer.from(await answer.arrayBuffer())) }
  } finally {
    await askEngine(`/containers/${Id}`, { method: 'DELETE' })
    await docker.removeImage(tag)
  }
}

/** Of a tar archive. */
function onlyFileIn(archive: Buffer) {
  const size = Number.parseInt(archive.toString('latin1', 124, 135), 8)
  return archive.toString('utf8', 512, 512 + size)
}
