import { describe, expect, test } from 'bun:test'
import { aRepository, contextOf, Dockerfile, failure, unpack, serveContexts } from './contexts.ts'

serveContexts()

describe('a path', () => {
  test('is followed through links inside the repository', async () => {
    const { url } = aRepository({
      'real/app/Dockerfile.prod': Dockerfile,
      'real/app/x': 'x',
      'real/app/Dockerfile': { to: 'Dockerfile.prod' },
      app: { to: './real/../real/app' },
    })
    const { context, files } = await unpack(url, { contextDir: 'app' })
    expect(context.dockerfile).toBe('Dockerfile.prod')
    expect(files).toEqual(['Dockerfile', 'Dockerfile.prod', 'x'])
  })

  test.each([
    ['../../etc/passwd'],
    ['/etc/passwd'],
    ['a/../../b'],
    ['a\0b'],
    ['shadow'],
    ['sub/passwd'],
    ['up'],
    ['loop'],
  ])('%p that leads out is refused', async (dockerfilePath) => {
    const { url } = aRepository({
      Dockerfile,
      shadow: { to: '/etc/shadow' },
      sub: { to: '/etc' },
      up: { to: '../../x' },
      loop: { to: 'loop' },
    })
    expect(await failure(url, { dockerfilePath })).toMatchObject({ code: 'path_outside' })
    expect(await failure(url, { contextDir: dockerfilePath })).toMatchObject({
      code: 'path_outside',
    })
  })

  test('of a .dockerignore can’t lead out either', async () => {
    const { url } = aRepository({ Dockerfile, '.dockerignore': { to: '/etc/passwd' } })
    expect(await failure(url)).toMatchObject({ code: 'path_outside' })
  })

  test('of no Dockerfile is that of a dockerfile, unless the settings name one', async () => {
    const { url } = aRepository({
      'app/dockerfile': 'FROM lower',
      'app/dockerfile.dockerignore': 'x',
      'app/x': 'x',
      'both/dockerfile': 'FROM lower',
      'both/Dockerfile': 'FROM upper',
    })
    const { context, files } = await unpack(url, { contextDir: 'app' })
    expect(context.dockerfile).toBe('dockerfile')
    expect(files).toEqual(['dockerfile', 'dockerfile.dockerignore'])
    expect((await contextOf(url, { contextDir: 'both' })).dockerfile).toBe('Dockerfile')
    const named = { dockerfilePath: 'app/Dockerfile' }
    expect(await failure(url, named)).toMatchObject({ code: 'no_dockerfile' })
  })

  test('without a Dockerfile is answered with those that are there', async () => {
    const { url } = aRepository({
      'deploy/docker/Dockerfile': Dockerfile,
      'api/Dockerfile.prod': 'x',
    })
    const error = await failure(url, { dockerfilePath: 'Dockerfile' })
    expect(error).toMatchObject({ code: 'no_dockerfile' })
    expect(error.message).toContain('deploy/docker/Dockerfile, api/Dockerfile.prod')
    expect(error.hint).toContain('set the Dockerfile to deploy/docker/Dockerfile')
    const { hint } = await failure(url, { dockerfilePath: 'Dockerfile.prd' })
    expect(hint).toContain('set the Dockerfile to api/Dockerfile.prod')
  })

  test('without a Dockerfile, of several by one name the nearest path is named', async () => {
    const { url } = aRepository({
      'a/Dockerfile': 'x',
      'app/Dockerfile': 'x',
      'b/c.dockerfile': 'x',
    })
    const { hint } = await failure(url, { dockerfilePath: 'apq/Dockerfile' })
    expect(hint).toContain('set the Dockerfile to app/Dockerfile')
  })

  test('of no Dockerfile and without a setting gets one that is written, and what it ignores', async () => {
    const { url } = aRepository({ 'a/x': 'x', 'a/ignored': 'x', '.davit.Dockerfile': 'taken' })
    const { context, files } = await unpack(url, { contextDir: 'a' })
    expect([context.planned, context.dockerfile]).toEqual(['FROM planned\n', '.davit.Dockerfile'])
    expect(files).toEqual(['x'])
    expect((await contextOf(url)).dockerfile).not.toBe('.davit.Dockerfile')
    expect(await failure(url, { dockerfilePath: 'a' })).toMatchObject({ code: 'no_dockerfile' })
  })

  test('of a folder that is not there is answered with those that are', async () => {
    const { url } = aRepository({ Dockerfile, 'web/x': 'x', 'api/x': 'x' })
    const error = await failure(url, { contextDir: 'wbe' })
    expect(error).toMatchObject({ code: 'no_context' })
    expect(error.message).toContain('api, web')
    expect(await failure(url, { contextDir: 'Dockerfile' })).toMatchObject({ code: 'no_context' })
  })
})
