import { expect, setDefaultTimeout, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { tarContext } from '../support/images.ts'
import { kinds } from './kinds.ts'
import { plan } from './plan.ts'

setDefaultTimeout(60_000)

const docker = connectDocker({ host: process.env.DOCKER_HOST })

/** A stage after the others that needs none of them: BuildKit reads all of the text, and builds only this. */
const alone = '\nFROM scratch\nLABEL test.parsed=1\n'

test.each(kinds)('BuildKit reads the Dockerfile of %s: %j', async (_, texts) => {
  const { dockerfile } = plan(texts, { packages: ['libvips42'] }, ['API_URL'])
  const tag = `davit-test-parsed:${Bun.randomUUIDv7()}`
  const context = tarContext({ Dockerfile: dockerfile + alone })
  for await (const item of docker.buildImage({ context, dockerfile: 'Dockerfile', tag })) {
    if (item.kind === 'image') expect(item.id).toMatch(/^sha256:/)
  }
  await docker.removeImage(tag, { force: true })
})
