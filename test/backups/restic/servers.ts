import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../../src/docker/index.ts'
import { freePort } from '../../support/free-port.ts'
import { ensureProgram } from '../../support/images/restic.ts'

/** The address of this machine at which containers reach it. */
export async function hostAddress() {
  const found = await connectDocker({ host: process.env.DOCKER_HOST }).networkUse('bridge')
  return found?.gateway ?? '172.17.0.1'
}

export const login = { user: 'davit', password: 'rest-password' }

/** A server of restic's own protocol. */
export const startRest = () =>
  start((place) => [
    ...['serve', 'restic', place.folder, '--addr', place.address],
    ...['--user', login.user, '--pass', login.password],
  ])

type Place = { folder: string; address: string }

async function start(argv: (place: Place) => string[]) {
  const program = await ensureProgram({ suite: 'bookworm', name: 'rclone' })
  const folder = mkdtempSync(join(tmpdir(), 'davit-server-'))
  const host = await hostAddress()
  const address = `${host}:${freePort()}`
  const child = Bun.spawn([program, ...argv({ folder, address })], {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    env: { HOME: folder, RCLONE_CONFIG: '' },
  })
  afterAll(async () => {
    child.kill('SIGKILL')
    await child.exited
    rmSync(folder, { recursive: true, force: true })
  })
  while (!(await answers(address))) {
    if (child.exitCode !== null) throw new Error(`rclone ended: ${await child.stderr.text()}`)
    await Bun.sleep(50)
  }
  return { folder, address, url: `http://${address}`, child }
}

const answers = (address: string) =>
  fetch(`http://${address}/`).then(
    () => true,
    () => false,
  )
