import { expect, test } from 'bun:test'
import { baseImages } from './base-images.ts'

test('the images that a Dockerfile needs are those of FROM and COPY, without its own stages', () => {
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

test('a file without FROM needs nothing', () => {
  expect(baseImages('RUN true', {})).toEqual([])
})

test('however the name of an image is written, it is found', () => {
  const dockerfile = [
    '# escape=`',
    'ARG A=team B=registry.example.com',
    'FROM `',
    '  "${NONE:-${B}}"/${A:+$A}/base',
    "COPY --from='a1b2c3' /a /a",
    'RUN --mount=type=bind,from=ghcr.io/x/y,target=/x true',
    'RUN --mount=from=ghcr.io/x/z,target=/x true',
  ].join('\n')
  expect(baseImages(dockerfile, {})).toEqual([
    'registry.example.com/team/base',
    'a1b2c3',
    'ghcr.io/x/y',
    'ghcr.io/x/z',
  ])
})

test('arguments that need each other, or themselves, are what they were before', () => {
  expect(baseImages('ARG A=$B\nARG B=$A\nFROM $A', {})).toEqual([])
  expect(baseImages('ARG A=${A}${A}\nFROM x$A', {})).toEqual(['x'])
  expect(baseImages('ARG A=1\nARG A\nFROM x:$A', {})).toEqual(['x:1'])
  expect(baseImages('FROM a\nARG B=c\nFROM x$B', {})).toEqual(['a', 'x'])
})

test('arguments that double each other are refused', () => {
  const lines = Array.from({ length: 60 }, (_, i) => `ARG A${i + 1}=$A${i}$A${i}`)
  const bomb = ['ARG A0=0123456789', ...lines, 'FROM $A60'].join('\n')
  expect(() => baseImages(bomb, {})).toThrow('more than 1 MiB')
})

test('the ways to hide the name of an image find it all the same', () => {
  const lines = [
    '# escape=`',
    'ARG X=secret',
    'ARG X=${X}/base',
    'FROM $X AS a',
    'FROM `',
    'one`',
    '/two',
    'RUN --mount=type=bind,FROM=three,target=/x true',
    'RUN --mount=type=bind,`"from=four,five`",target=/x true',
  ]
  expect(baseImages(lines.join('\n'), {})).toEqual(['secret/base', 'one/two', 'three', 'four,five'])
})
