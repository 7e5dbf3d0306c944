import { expect, test } from 'bun:test'
import { baseImages } from '../../src/deployments/base-images.ts'

test('the images that a Dockerfile wants are those of FROM and COPY, without its own stages', () => {
  const dockerfile = [
    '# FROM commented/out',
    'ARG VERSION=1',
    'FROM --platform=linux/amd64 registry.example.com/base:$VERSION AS build',
    'RUN echo a \\',
    '  # FROM within/a-step',
    '  && echo b',
    'FROM scratch AS empty',
    'from build',
    'COPY --from=build /a /a',
    'COPY --from=0 /a /b',
    'COPY --from=ghcr.io/team/tool:${TAG:-2} /tool /tool',
  ].join('\n')
  const images = ['registry.example.com/base:1', 'ghcr.io/team/tool:2']
  expect(baseImages(dockerfile, {})).toEqual(images)
  expect(baseImages(dockerfile, { VERSION: '9' })[0]).toBe('registry.example.com/base:9')
})

test('a file without FROM wants nothing', () => {
  expect(baseImages('RUN true', {})).toEqual([])
})
