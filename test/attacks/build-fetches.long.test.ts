import { describe, expect, onTestFinished, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { aProject, logOf } from '../deployments/apps.ts'
import { collect, sandbox } from '../docker/sandbox.ts'
import { testApp } from '../support/app.ts'
import { builders } from '../support/builders.ts'
import { tarOf } from '../../src/docker/tar.ts'
import { tarContext } from '../support/images.ts'

const { docker, tag, labels } = sandbox()
const end = 'CMD ["sleep", "999"]'

/** A server that only this machine reaches, with the paths that it was asked for. */
function aServer(answer: (path: string) => Response = () => new Response('secret')) {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      return answer(pathname)
    },
  })
  onTestFinished(() => void server.stop(true))
  return { asked, host: `127.0.0.1:${server.port}` }
}

describe.each(builders)('with the builder %s', (builder) => {
  const aBuilder = async (env: Record<string, string> = {}) => {
    const t = testApp({ DAVIT_BUILDER: builder, ...env })
    const bob = t.logIn('bob@example.com')
    const project = await aProject(t, bob, { Dockerfile: '' }, { port: 0 })
    const build = async (lines: string[], more: Record<string, string> = {}) => {
      project.repository.commit({ ...more, Dockerfile: ['FROM busybox', ...lines, end].join('\n') })
      const deployment = await project.deploy()
      return { ...deployment, log: (await logOf(bob, deployment)).join('\n') }
    }
    return { t, build }
  }

  test('a build makes the engine fetch nothing from where only the server is', async () => {
    const { build } = await aBuilder({ DAVIT_ALLOW_HOSTS: '' })
    const { host, asked } = aServer()
    const evil = tag()
    const context = tarContext({ Dockerfile: `FROM busybox\nONBUILD ADD http://${host}/a /x` })
    await collect(docker.buildImage({ context, dockerfile: 'Dockerfile', tag: evil, labels }))
    const ways: [string[], RegExp][] = [
      [[`ADD http://${host}/a /x`], /^host_refused$/],
      [[`ADD http://localhost:${host.split(':')[1]}/a /x`], /^host_refused$/],
      [[`ADD http://2130706433:${host.split(':')[1]}/a /x`], /^host_refused$/],
      [[`ARG A=http://${host}/a`, 'ADD $A /x'], /^add_refused$/],
      [[`ADD http:/"/"${host}/a /x`], /^add_refused$/],
      [[`ADD git@${host}:a.git /x`], /^add_refused$/],
      [[`ADD http://${host}/a.git#main /x`], /^add_refused$/],
      [[`ONBUILD ADD http://${host}/a /x`], /^add_refused$/],
      [[`FROM ${evil}`], /^add_refused$/],
    ]
    for (const [lines, code] of ways) {
      const { status, error, log } = await build(lines)
      expect({ status, code: error?.code }, lines.join() + log).toEqual({
        status: 'failed',
        code: expect.stringMatching(code),
      })
    }
    expect(asked).toEqual([])
  })

  test('no file of a repository takes the place of the Dockerfile that was looked at', async () => {
    const { build } = await aBuilder()
    const mine = aServer()
    const { host, asked } = aServer()
    const evil = `FROM busybox\nADD http://${host}/a /x\nRUN echo the evil one\n${end}\n`
    const { status, log } = await build([`ADD http://${mine.host}/b /y`], {
      '.davit.Dockerfile': evil,
    })
    expect(status, log).toBe('running')
    expect(log).not.toContain('the evil one')
    expect(asked).toEqual([])
  })

  test('what ADD names is fetched by Davit, and is in the image as if the engine had', async () => {
    const { build, t } = await aBuilder()
    const text = `text ${Bun.randomUUIDv7()}`
    const archive = tarOf([{ path: 'inside.txt', content: 'inside', mode: 0o644 }])
    const { host, asked } = aServer((path) => new Response(path === '/a.tar' ? archive : text))
    const sum = new Bun.CryptoHasher('sha256').update(text).digest('hex')
    const { status, log } = await build(
      [
        `ADD http://${host}/some/one.txt http://${host}/two.txt?q=1 /added/`,
        `ADD --chown=7:8 http://${host}/one.txt /owned`,
        `ADD ["http://${host}/a.tar", "/added/"]`,
        ...(builder === 'buildkit'
          ? [
              `ADD http://${host}/b /again/`,
              `ADD --checksum=sha256:${sum} http://${host}/b /b`,
              `ADD http://${host}/c /again/`,
              'RUN cat /again/b /again/c',
            ]
          : []),
        'ADD local.tar /local/',
        'RUN cat /added/one.txt && ls -ln /added /owned /local && grep text /added/two.txt',
      ],
      { 'local.tar': archive.toString('latin1') },
    )
    expect(status, log).toBe('running')
    expect(log).toContain(text)
    expect(log).toMatch(/-rw------- +1 0 +0 .* one\.txt/)
    expect(log).toMatch(/-rw------- +1 7 +8 .* \/owned/)
    expect(log).toMatch(/a\.tar/)
    expect(log).toMatch(/inside\.txt/)
    expect(asked.toSorted()).toEqual(
      [
        '/some/one.txt',
        '/two.txt',
        '/one.txt',
        '/a.tar',
        ...(builder === 'buildkit' ? ['/b', '/c'] : []),
      ].toSorted(),
    )
    expect(
      existsSync(join(t.dataDir, 'downloads')) && readdirSync(join(t.dataDir, 'downloads')),
    ).toEqual([])
  })

  test('an invalid download ends the build with the reason', async () => {
    const { build } = await aBuilder({ DAVIT_REPOSITORY_SIZE: '1' })
    const { host, asked } = aServer((path) =>
      path === '/moved'
        ? Response.redirect('http://169.254.169.254/latest/meta-data')
        : path === '/none'
          ? new Response('no', { status: 404 })
          : new Response('x'.repeat(path === '/large' ? 2 ** 21 : 1)),
    )
    const codeOf = async (line: string) => (await build([line])).error?.code
    expect(await codeOf(`ADD http://${host}/moved /x`)).toBe('host_refused')
    expect(await codeOf(`ADD http://${host}/none /x`)).toBe('download_failed')
    expect(await codeOf(`ADD http://${host}/large /x`)).toBe('answer_too_large')
    expect(await codeOf(`ADD --checksum=sha256:${'a'.repeat(64)} http://${host}/b /x`)).toBe(
      'checksum_mismatch',
    )
    expect(await codeOf(`ADD http://${host}/ /x`)).toBe('add_refused')
    expect(await codeOf(`ADD http://${host}/a%20b%zz /x`)).toBe('add_refused')
    expect(asked).not.toContain('/')
  })
})

test('a Dockerfile is read by no program but Docker’s own', async () => {
  const t = testApp()
  const bob = t.logIn('bob@example.com')
  const { host, asked } = aServer()
  const Dockerfile = `# syntax=${host}/evil/frontend\nFROM busybox\n${end}`
  const project = await aProject(t, bob, { Dockerfile }, { port: 0 })
  const { error } = await project.deploy()
  expect(error).toMatchObject({ code: 'syntax_refused', step: 'building' })
  expect(error.hint).toContain('docker/dockerfile:1')
  expect(asked).toEqual([])
})
