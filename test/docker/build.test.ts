import { describe, expect, onTestFinished, test } from 'bun:test'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { BuildOptions, BuildOutput } from '../../src/docker/index.ts'
import { BuildError, connectDocker } from '../../src/docker/index.ts'
import { tarContext } from '../support/images.ts'
import { until } from '../support/until.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, labels, tag } = sandbox()

const build = (dockerfile: string, options: Partial<BuildOptions> = {}) =>
  docker.buildImage({
    context: tarContext({ Dockerfile: dockerfile, 'www/index.html': 'hello' }),
    dockerfile: 'Dockerfile',
    tag: tag(),
    labels,
    ...options,
  })

const textsOf = (output: BuildOutput[], stream?: string) =>
  output.flatMap((o) => (o.kind === 'line' && (!stream || o.stream === stream) ? o.text : []))

const failureOf = (output: AsyncIterable<BuildOutput>) =>
  collect(output).then(
    () => null,
    (error) => error,
  )

const isRunning = (marker: string) =>
  Bun.spawnSync(['pgrep', '-f', `^sleep ${marker}$`]).exitCode === 0

/** Those in which a command with this text runs or has run. */
async function containersOf(marker: string) {
  const all = await docker.listContainers({ all: true })
  const seen = await Promise.all(all.map(({ id }) => docker.inspectContainer(id)))
  return seen.filter((container) => container?.command.join(' ').includes(marker))
}

describe.each(['buildkit', 'classic'] as const)('%s', (builder) => {
  test('a build yields its lines and then the image, labelled and tagged', async () => {
    const name = tag()
    const dockerfile = [
      'FROM busybox',
      'ARG GREETING',
      'COPY www /www',
      `RUN echo "$GREETING ${name}"; echo warned >&2; printf '10%%\\r100%%\\n'`,
      'EXPOSE 9000',
      'EXPOSE 80 53/udp',
      'HEALTHCHECK CMD true',
    ].join('\n')
    const buildArgs = { GREETING: 'good "day"' }
    const output = await collect(build(dockerfile, { builder, tag: name, buildArgs }))
    const plain = (text: string) => text.replace(/^#\d+ /, '')
    expect(textsOf(output, 'stdout').map(plain)).toEqual([`good "day" ${name}`, '100%'])
    expect(textsOf(output, 'stderr').map(plain)).toEqual(['warned'])
    expect(textsOf(output, 'system').some((text) => /COPY www \/www$/.test(text))).toBe(true)
    const image = output.at(-1)
    const found = await docker.inspectImage(name)
    expect(image).toEqual({ kind: 'image', id: found!.id })
    expect(found).toMatchObject({ labels, tags: [name], exposedPorts: [9000, 80] })
  })

  test('without the cache every step runs again', async () => {
    const marker = tag()
    const ran = async (noCache: boolean) => {
      const output = build(`FROM busybox\nRUN echo "ran ${marker}"`, { builder, noCache })
      return textsOf(await collect(output), 'stdout').some((text) => text.endsWith(`ran ${marker}`))
    }
    expect([await ran(false), await ran(false), await ran(true)]).toEqual([true, false, true])
  })

  test('a command that fails names its step and its exit code', async () => {
    const error = await failureOf(build('FROM busybox\nRUN echo hopeless; exit 42', { builder }))
    expect(error).toBeInstanceOf(BuildError)
    expect(error.step).toContain('RUN echo hopeless; exit 42')
    expect(error.exitCode).toBe(42)
    expect(error.message).toContain('42')
  })

  test('a Dockerfile that is not there is refused in the words of the engine', async () => {
    const error = await failureOf(build('FROM busybox', { builder, dockerfile: 'docker/Prod' }))
    expect(error).toBeInstanceOf(BuildError)
    expect(error.message).toContain('docker/Prod')
  })

  test('aborting ends the running command and leaves no container', async () => {
    const marker = String(700_000_000 + Math.floor(Math.random() * 1e8))
    const controller = new AbortController()
    const { signal } = controller
    const dockerfile = `FROM busybox\nRUN echo begun ${marker}; sleep ${marker}`
    const output = failureOf(build(dockerfile, { builder, signal }))
    await until(() => isRunning(marker))
    expect(await containersOf(marker)).toHaveLength(builder === 'classic' ? 1 : 0)
    controller.abort(new Error('cancelled'))
    expect((await output).message).toBe('cancelled')
    await until(async () => !isRunning(marker) && (await containersOf(marker)).length === 0)
  })

  test('leaving the loop over the output ends the build too', async () => {
    const marker = String(800_000_000 + Math.floor(Math.random() * 1e8))
    for await (const item of build(`FROM busybox\nRUN echo go; sleep ${marker}`, { builder })) {
      if (item.kind === 'line' && item.stream === 'stdout') break
    }
    await until(() => !isRunning(marker))
  })

  test('a context that breaks off fails the build with its own error', async () => {
    const whole = new Uint8Array(
      await new Response(tarContext({ Dockerfile: 'FROM busybox' })).arrayBuffer(),
    )
    let pulls = 0
    const context = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ === 0) controller.enqueue(whole.subarray(0, 512))
        else controller.error(Object.assign(new Error('git died'), { code: 'EPIPE' }))
      },
    })
    expect((await failureOf(build('', { builder, context }))).message).toBe('git died')
  })
})

test('what a step writes is its own with the classic builder, with or without an end of line', async () => {
  const faked = 'Removing intermediate container faked'
  const dockerfile = [
    'FROM busybox',
    `RUN printf 'a ${tag()}\\n\\n\\nno end'; printf 'red, no end' >&2`,
    `RUN printf '${faked}'; sleep 0.1; printf ' Step 9/9 : x\\nStep 8/9 : y\\n'; printf '\\n' >&2`,
    'RUN echo why >&2; printf last; exit 3',
  ].join('\n')
  const lines: BuildOutput[] = []
  const error = await (async () => {
    for await (const line of build(dockerfile, { builder: 'classic' })) lines.push(line)
  })().catch((error) => error)
  const written = [expect.stringMatching(/^a test/), '', '', 'no end']
  expect(textsOf(lines, 'stdout')).toEqual([
    ...written,
    `${faked} Step 9/9 : x`,
    'Step 8/9 : y',
    'last',
  ])
  expect(textsOf(lines, 'stderr')).toEqual(['red, no end', '', 'why'])
  const own = textsOf(lines, 'system')
  expect(own.filter((text) => text.startsWith('Step '))).toHaveLength(4)
  expect(
    own.filter((text) => /^(Removing| ---> Removed) intermediate container \w+$/.test(text)),
  ).toHaveLength(3)
  expect(error.step).toMatch(/^Step 4\/\d : RUN echo why/)
})

test('a second build of the same says what was cached', async () => {
  const dockerfile = `FROM busybox\nCOPY www /${tag().replace(':', '-')}`
  await collect(build(dockerfile))
  const lines = textsOf(await collect(build(dockerfile)))
  const [, number] = lines.map((line) => /^#(\d+) .*COPY www/.exec(line)).find(Boolean)!
  expect(lines).toContain(`#${number} CACHED`)
})

test('a step that writes more than BuildKit keeps says so once', async () => {
  const dockerfile = `FROM busybox\nRUN yes ${tag()} | head -c 1500000`
  const lines = textsOf(await collect(build(dockerfile, { builder: 'buildkit' })), 'system')
  const told = lines.filter((text) => /^#\d+ .*BuildKit/.test(text))
  expect(told).toHaveLength(1)
})

test('lines come while the step that writes them runs', async () => {
  const started = performance.now()
  let first = 0
  let image = ''
  const dockerfile = `FROM busybox\nRUN echo first ${tag()}; sleep 1; echo second`
  for await (const item of build(dockerfile)) {
    if (item.kind === 'image') image = item.id
    else if (item.kind === 'line' && item.stream === 'stdout') first ||= performance.now() - started
  }
  expect(image).toStartWith('sha256:')
  expect(performance.now() - started - first).toBeGreaterThan(700)
})

/** Endless, and counts what was read of it. */
function endlessContext() {
  const context = { read: 0, cancelled: false, stream: null as never as ReadableStream<Uint8Array> }
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    context.read += 65_536
    controller.enqueue(new Uint8Array(65_536))
  }
  const cancel = () => void (context.cancelled = true)
  context.stream = new ReadableStream({ pull, cancel }, { highWaterMark: 0 })
  return context
}

test('a context is read no faster than the engine takes it, and is given up on abort', async () => {
  const host = await fakeEngine(({ socket }) => socket.pause())
  const context = endlessContext()
  const options = {
    context: context.stream,
    dockerfile: 'Dockerfile',
    tag: 'x',
    builder: 'classic',
  } as const
  const signal = AbortSignal.timeout(300)
  const error = await failureOf(connectDocker({ host }).buildImage({ ...options, signal }))
  expect(error.name).toBe('TimeoutError')
  expect(context.read).toBeGreaterThan(65_536)
  expect(context.read).toBeLessThan(4 * 2 ** 20)
  await until(() => context.cancelled)
})

test('a refusal in the middle of the upload wins over the broken pipe', async () => {
  const host = await fakeEngine(({ socket }) => {
    answer(socket, 500, '{"message":"no space left on device"}', 'Connection: close\r\n')
    socket.end()
    socket.pause()
  })
  const context = endlessContext()
  const output = connectDocker({ host }).buildImage({
    context: context.stream,
    dockerfile: 'Dockerfile',
    tag: 'x',
    builder: 'classic',
  })
  const error = await failureOf(output)
  expect(error).toMatchObject({ status: 500, message: 'no space left on device' })
  await until(() => context.cancelled)
})

test('an engine that goes away in the middle of a build is a failure, not a success', async () => {
  const host = await fakeEngine(({ socket }) => {
    answer(socket, 200, '{"stream":"Step 1/1 : FROM busybox\\n"}\n')
  })
  const output = connectDocker({ host }).buildImage({
    context: tarContext({ Dockerfile: 'FROM busybox' }),
    dockerfile: 'Dockerfile',
    tag: 'x',
    builder: 'classic',
  })
  expect((await failureOf(output)).code).toBe('engine_unreachable')
})

test('an engine elsewhere can’t be held to caps, which is reported once', async () => {
  const near = createServer((socket) => {
    const far = connect('/var/run/docker.sock')
    socket.on('error', () => far.destroy()).pipe(far)
    far.on('error', () => socket.destroy()).pipe(socket)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void near.close())
  await once(near, 'listening')
  const { port } = near.address() as AddressInfo
  const output = await collect(
    connectDocker({ host: `tcp://127.0.0.1:${port}` }).buildImage({
      context: tarContext({ Dockerfile: `FROM busybox\nRUN echo ${tag()}` }),
      dockerfile: 'Dockerfile',
      tag: tag(),
      caps: { memoryBytes: 2 ** 30, cpus: 1, builds: 1 },
    }),
  )
  const told = output.filter(({ kind }) => kind === 'uncapped')
  expect(told).toEqual([{ kind: 'uncapped', why: 'Docker is on another machine' }])
  expect(output.at(-1)!.kind).toBe('image')
})
