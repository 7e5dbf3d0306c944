import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import manifest from '../../package.json' with { type: 'json' }
import { execIn } from '../support/exec.ts'
import { freePort } from '../support/free-port.ts'
import { makeNodeImage } from '../support/images/node.ts'
import { ensureBareSystemd } from '../support/images/systemd.ts'
import { until } from '../support/until.ts'
import { must } from './executables.ts'
import { build } from './image.ts'

setDefaultTimeout(600_000)

const docker = connectDocker({ host: process.env.DOCKER_HOST })
const id = Bun.randomUUIDv7()
const image = `davit-test-release:${id}`
const node = `davit-test-node:${id}`

afterAll(async () => {
  await docker.removeContainer(id, { force: true, volumes: true }).catch(() => {})
  for (const name of [image, node]) await docker.removeImage(name).catch(() => {})
})

test('the image of the Dockerfile is built, and runs next to the engine that it drives', async () => {
  const base = await ensureBareSystemd() // stands for the ones that a registry has
  await makeNodeImage(node, { base })
  expect(await build(image, { BUILD_IMAGE: node, RUN_IMAGE: base })).toBeNull()

  const port = freePort()
  const options = ['--detach', '--name', id, '--init', '--network', 'host']
  const socket = '/var/run/docker.sock'
  await must([
    ...['docker', 'run', ...options, '--volume', `${socket}:${socket}`, '--volume', '/data'],
    ...['--env', `DAVIT_PORT=${port}`, image],
  ])
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null)
  await until(async () => (await ask('/health/ready'))?.ok === true, 60)
  expect(await (await ask('/health'))!.json()).toEqual({ status: 'ok' })

  const run = async (...command: string[]) => (await execIn(id, command)).output
  expect(await run('davit', '--version')).toBe(manifest.version)
  const doctor = await run('davit', 'doctor')
  for (const [what, is] of [
    ['engine', 'Docker \\d'],
    ['data', '/data is for its owner only'],
  ])
    expect(doctor).toMatch(new RegExp(`^ok +${what} +${is}`, 'm'))
  for (const program of ['git', 'ssh']) expect(await run('which', program)).not.toBe('')
  await must(['docker', 'stop', '--time', '20', id])
  expect(await must(['docker', 'inspect', '--format', '{{.State.ExitCode}}', id])).toBe('0\n')
})
