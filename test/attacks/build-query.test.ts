import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { answer, fakeEngine } from '../docker/fake-engine.ts'
import { collect } from '../docker/sandbox.ts'
import { tarContext } from '../support/images.ts'

test('a build asks the engine for no network, files or secrets of its own, whatever it is called with', async () => {
  const asked: string[] = []
  const host = await fakeEngine(({ line, socket }) => {
    if (line.includes('/build?')) asked.push(line)
    answer(socket, line.includes('/build?') ? 500 : 200, '{}')
  })
  const smuggled = {
    networkmode: 'host',
    remote: 'http://169.254.169.254/',
    cachefrom: '["x"]',
    extrahosts: 'a:127.0.0.1',
    securityopt: '["seccomp=unconfined"]',
    outputs: '[{"type":"local"}]',
    session: 'x',
  }
  for (const builder of ['buildkit', 'classic'] as const) {
    const build = connectDocker({ host }).buildImage({
      ...smuggled,
      context: tarContext({ Dockerfile: 'FROM busybox' }),
      dockerfile: 'Dockerfile&networkmode=host',
      tag: 'x&remote=http://a/',
      buildArgs: { A: '&networkmode=host' },
      ...(builder === 'classic' && { caps: { memoryBytes: 2 ** 28, cpus: 1, builds: 1 } }),
      builder,
    })
    await collect(build).catch(() => {})
  }
  const keys = asked.map((line) => [
    ...new URL(line.split(' ')[1]!, 'http://engine').searchParams.keys(),
  ])
  const always = ['buildargs', 'dockerfile', 'forcerm', 'labels', 'rm', 't']
  expect(keys.map((sent) => sent.toSorted())).toEqual([
    [...always, 'version'],
    [...always, 'cpuperiod', 'cpuquota', 'memory', 'memswap'].toSorted(),
  ])
})
