import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureImageWithBun } from '../support/images/bun.ts'
import { lastLine, run } from '../support/machine/command.ts'

const app = join(import.meta.dir, 'notes')

/**
 * Makes sure that the engine has the image that the notes app is built on: this Bun, and the app's
 * packages from npm, in the versions of its lockfile. Davit's own packages are others.
 */
export async function ensureNotesImage({ say }: { say: (line: string) => void }) {
  const files = [join(app, 'package.json'), join(app, 'bun.lock'), import.meta.path]
  await ensureImageWithBun({
    image: 'davit-demo-notes:latest', // what its Dockerfile is built on
    doing: 'Installing the packages of the notes app (Hono, pg, BullMQ) from npm',
    parts: await Promise.all(files.map((file) => Bun.file(file).text())),
    layOut: installPackages,
    say,
  })
}

async function installPackages(work: string) {
  for (const file of ['package.json', 'bun.lock']) await copyFile(join(app, file), join(work, file))
  const install = [process.execPath, 'install', '--frozen-lockfile', '--production', '--cwd', work]
  const { exitCode, output } = await run(install)
  if (exitCode !== 0)
    throw new Error(`The packages of the notes app can't be installed: ${lastLine(output)}`)
  return ['COPY node_modules /app/node_modules']
}
