import { describe, expect, test } from 'bun:test'
import {
  inspectDockerfile,
  inspectStages,
  rewriteDockerfile,
} from '../../../src/deployments/dockerfile/inspect.ts'
import type { StageReader } from '../../../src/deployments/dockerfile/inspect.ts'
import { keyOf } from '../../../src/deployments/base-images.ts'
import { refuseTriggers } from '../../../src/deployments/dockerfile/sources.ts'
import { readDockerfile } from '../../../src/deployments/dockerfile/instructions.ts'

const reader: StageReader = {
  buildArgs: {},
  buildKit: true,
  heredocs: true,
  platform: 'linux/amd64',
  bases: {},
}
const classic: StageReader = { ...reader, buildKit: false, heredocs: false }

const inspect = (text: string, as = reader) => ({
  images: inspectDockerfile(text, as),
  ...inspectStages(text, as),
})
const codeOf = (text: string, as = reader) => {
  try {
    inspect(text, as)
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('who reads the file', () => {
  test.each([
    '# syntax=docker/dockerfile:1',
    '#syntax = docker.io/docker/dockerfile:1.7-labs',
    `# syntax=docker/dockerfile@sha256:${'a'.repeat(64)}`,
    '# a comment: syntax=evil/frontend',
    'FROM a\n# syntax=evil/frontend',
  ])('%s is Docker’s own', (line) => {
    expect(codeOf(`${line}\nFROM busybox`)).toBeNull()
  })

  test.each([
    '# syntax=evil/frontend',
    '# Syntax = docker/dockerfile-upstream:master',
    '# syntax=docker/dockerfile.evil',
    '# syntax=evil.example.com/docker/dockerfile:1',
    '# syntax=docker/dockerfile:1 evil',
    '# escape=`\n# syntax=evil/frontend',
    '#!/usr/bin/env x\n# syntax=evil/frontend',
    '// syntax=evil/frontend',
    '{"syntax": "evil/frontend"}',
  ])('%s is refused', (line) => {
    expect(codeOf(line.startsWith('{') ? line : `${line}\nFROM busybox`)).toBe('syntax_refused')
  })
})

describe('ADD', () => {
  test.each([
    'ADD http://127.0.0.1:3000/health/$X /x',
    'ADD $X /x',
    'ADD ["${X}", "/x"]',
    'ADD ${X} $Y /x',
    'ADD git@127.0.0.1:a/b.git /x',
    'ADD root@127.0.0.1:a/b.git /x',
    'ADD git://127.0.0.1/a /x',
    'ADD ssh://git@127.0.0.1/a /x',
    'ADD http:/"/"127.0.0.1/a /x',
    'ADD http:\\//127.0.0.1/a /x',
    'ADD "http://127.0.0.1/a" /x',
    'ADD a.tar http://127.0.0.1/a /x',
    'ADD https://user:word@example.com/a /x',
    'ADD https://example.com/a.git#main /x',
    'ADD https://example.com/a.git /x',
    'ADD https://example.com/a.git?ref=main /x',
    'ADD --keep-git-dir=true https://example.com/a /x',
    'ADD --unpack=true https://example.com/a.tar /x',
    'ADD --checksum=$SUM https://example.com/a.tar /x',
    'add \\\n  # within\n  git@127.0.0.1:a /x',
    'ONBUILD ADD https://example.com/a /x',
    'ONBUILD ADD $X /x',
    'ADD ["a", "/x"] z',
    'ADD ["http:\\u002f\\u002f127.0.0.1/a", "/x"] z',
    'ONBUILD ONBUILD ADD https://example.com/a /x',
  ])('%s is refused', (line) => {
    for (const as of [reader, classic])
      expect(codeOf(`FROM busybox\n${line}`, as)).toBe('add_refused')
  })

  test.each(['ADD a b /x/', 'ADD a.tar $HOME/', 'ADD --chown=1:1 ["a b", "/x"]', 'ADD x@y /x'])(
    '%s is the context’s',
    (line) => {
      expect(inspect(`FROM busybox\n${line}`).remotes).toEqual([])
    },
  )

  test('an address is fetched by Davit, with its checksum', () => {
    const sum = `sha256:${'a'.repeat(64)}`
    const text = [
      'FROM busybox',
      'ADD https://example.com/a?b=c https://example.com/d /x/',
      `ADD --checksum=${sum} https://example.com/e /x/`,
    ]
    expect(inspect(text.join('\n')).remotes).toEqual([
      { address: 'https://example.com/a?b=c', checksum: null },
      { address: 'https://example.com/d', checksum: null },
      { address: 'https://example.com/e', checksum: sum },
    ])
  })

  test('there are only so many images and addresses in a file', () => {
    const lines = (line: (i: number) => string) => Array.from({ length: 101 }, (_, i) => line(i))
    for (const many of [lines((i) => `FROM a${i}`), lines((i) => `ADD https://example.com/${i} /`)])
      expect(codeOf(['FROM busybox', ...many].join('\n'))).toBe('dockerfile_too_hard')
  })

  test('a here-document is refused for engines that know none, and nothing else that looks like one', () => {
    const old = { ...reader, heredocs: false }
    const texts = [
      'RUN <<EOF\nls\nEOF',
      'COPY <<a.txt /x\nADD\na.txt',
      'RUN cat <<-"E" >/x\n\t1\n\tE',
    ]
    for (const text of texts) {
      expect(codeOf(`FROM busybox\n${text}`, old)).toBe('heredoc_unsupported')
      expect(codeOf(`FROM busybox\n${text}`, classic)).toBe('heredoc_unsupported')
      expect(codeOf(`# syntax=docker/dockerfile:1\nFROM busybox\n${text}`, old)).toBeNull()
    }
    for (const text of [
      'RUN echo $(( 1 << 2 ))',
      'RUN bash -c "cat <<< EOF"',
      'RUN ["x", "<<EOF"]',
    ])
      expect(codeOf(`FROM busybox\n${text}`, old)).toBeNull()
  })

  test('what is hidden in a here-document from engines that know none is seen', () => {
    const text = 'FROM busybox\nRUN cat <<EOF\nADD git@127.0.0.1:a /x\nEOF'
    expect(codeOf(text)).toBeNull()
    expect(codeOf(text, { ...reader, heredocs: false })).toBe('add_refused')
    expect(codeOf(`# syntax=docker/dockerfile:1.2\n${text}`)).toBe('add_refused')
    expect(
      codeOf(`# syntax=docker/dockerfile:1\n${text}`, { ...reader, heredocs: false }),
    ).toBeNull()
  })
})

test.each([
  ['a next line before an instruction', '\u0085ADD git@127.0.0.1:a /x'],
  ['a byte order mark that ends a continued line', 'RUN true \\\n\uFEFF\nADD git@127.0.0.1:a /x'],
  ['two carriage returns', 'RUN true \\\r\r\nADD git@127.0.0.1:a /x'],
  ['a half character before a flag', 'COPY \uFFFD--from=x /a /a'],
  ['a letter that is another one in small', 'ONBU\u0130LD ADD http://127.0.0.1/a /x'],
  ['a character that is half a blank, in a flag', 'COPY --chown=\u0105--from=x /a /a'],
])('what engines read in another way is refused: %s', (_, line) => {
  for (const as of [reader, classic])
    expect(codeOf(`FROM busybox\n${line}`, as)).toBe('dockerfile_invalid')
  expect(() => refuseTriggers([line], 'evil:1')).toThrow('evil:1')
})

test('what BuildKit sets by itself is what was given for it, declared or not', () => {
  const imageOf = (text: string, buildArgs = {}, platform = 'linux/amd64') =>
    inspect(text, { ...reader, buildArgs, platform }).images[0]!.image
  for (const end of ['PLATFORM', 'OS', 'ARCH', 'VARIANT'])
    for (const name of [`BUILD${end}`, `TARGET${end}`])
      for (const from of [`FROM \${${name}:-busybox}`, `ARG ${name}\nFROM $${name}`])
        expect(imageOf(from, { [name]: 'private' }), from).toBe('private')
  const plain = 'FROM base-$TARGETARCH${TARGETVARIANT-x}'
  expect(imageOf(plain)).toBe('base-amd64')
  expect(imageOf(plain, {}, 'linux/arm/v7')).toBe('base-armv7')
  expect(inspect(plain, { ...classic, buildArgs: { TARGETARCH: 'y' } }).images[0]!.image).toBe(
    'base-x',
  )
  expect(codeOf('ARG A=${TARGETSTAGE:-busybox}\nFROM $A')).toBe('image_name_invalid')
  expect(imageOf('ARG TARGETSTAGE=a\nFROM $TARGETSTAGE')).toBe('a')
})

test('what is odd in a comment, or usual in a text, is taken', () => {
  const text = '\uFEFFFROM busybox\r\n# \uFFFD\r\nRUN echo "é\u00a0ü" \\\r\n  && b\r\nCOPY ü /x\r'
  expect(codeOf(text)).toBeNull()
})

test('triggers that an image brings may not fetch, and take from no other image', () => {
  const refused = (line: string) => expect(() => refuseTriggers([line], 'evil:1')).toThrow('evil:1')
  refused('ADD http://127.0.0.1/a /x')
  refused('COPY --from=registry.example.com/x /a /a')
  refused('RUN --mount=from=registry.example.com/x,target=/x true')
  refuseTriggers(['COPY . /app', 'ADD a.tar /x', 'RUN make'], 'good:1')
  expect(codeOf('FROM a AS b\nONBUILD COPY --from=x /a /a\nFROM b')).toBe('onbuild_refused')
})

test('an image is one by its name, not by the beginning of its id', () => {
  for (const name of ['9ea6d7e110e5', '123', 'sha256:9ea6', '${A:-9ea6}']) {
    expect(codeOf(`FROM ${name}`, classic), name).toBe('image_name_invalid')
    if (name !== '123')
      expect(
        codeOf(`FROM busybox\nCOPY --from=${name.replace(/.*-(.*)}/, '$1')} /a /a`, classic),
      ).toBe('image_name_invalid')
  }
  expect(codeOf('FROM ${X%y}')).toBe('image_name_invalid')
})

test('the platform of an image is reported where it is not the engine’s', () => {
  const text = ['$BUILDPLATFORM', 'linux/x86_64', 'linux/arm64'].map(
    (platform) => `FROM --platform=${platform} a`,
  )
  expect(inspect(text.join('\n')).images).toEqual([
    { image: 'a', platform: '' },
    { image: 'a', platform: 'linux/arm64' },
  ])
})

test('a file is rewritten so that it means the same, with images and addresses replaced', () => {
  const text = [
    '# syntax=docker/dockerfile:1',
    '# escape=`',
    'ARG BASE=team/base',
    'FROM busybox AS first',
    'RUN a `',
    '  # a comment',
    '  && b',
    'FROM --platform=$BUILDPLATFORM ${BASE} AS second',
    'COPY --from=0 --chown=1:1 /a /b',
    'COPY --from=team/tool /a /b',
    'RUN --mount=type=bind,`"from=team/tool`",target=/x <<"E" cat',
    'FROM nowhere',
    'E',
    'ADD --chmod=755 --checksum=sha256:' + 'a'.repeat(64) + ' https://example.com/e /x/',
    'ONBUILD RUN "x"',
    'CMD ["sh", "-c", "a\\\\nb"]',
  ].join('\n')
  const [base, tool] = ['team/base', 'team/tool'].map((image) => keyOf({ image, platform: '' }))
  const images = { [base!]: 'DAVIT_IMAGE_0', [tool!]: 'DAVIT_IMAGE_1' }
  const files = { 'https://example.com/e': '.davit-added/0/e' }
  const written = rewriteDockerfile(text, reader, { images, files })
  expect(written.split('\n')).toEqual([
    '# syntax=docker/dockerfile:1',
    '# escape=`',
    'ARG DAVIT_IMAGE_0',
    'ARG DAVIT_IMAGE_1',
    'ARG BASE=team/base',
    'FROM ${DAVIT_IMAGE_1} AS davit-image-1',
    'FROM busybox AS first',
    'RUN a   && b',
    'FROM --platform=$BUILDPLATFORM ${DAVIT_IMAGE_0} AS second',
    'COPY --from=1 --chown=1:1 /a /b',
    'COPY --from=davit-image-1 /a /b',
    'RUN --mount=type=bind,from=davit-image-1,target=/x <<"E" cat',
    'FROM nowhere',
    'E',
    'COPY --chmod=755 .davit-added/0/e /x/',
    'ONBUILD RUN "x"',
    'CMD ["sh", "-c", "a\\\\nb"]',
    '',
  ])
  const again = rewriteDockerfile(written, reader, { images: {}, files: {} })
  expect(again).toBe(written)
})

test('flags that need quotes keep them', () => {
  const text = 'FROM a\nCOPY "--chown=a b" --from="x\\"y" /a /b'
  const [, before] = readDockerfile(text, today).instructions
  const written = rewriteDockerfile(text, reader, { images: {}, files: {} })
  expect(readDockerfile(written, today).instructions[1]!.flags).toEqual(before!.flags)
})

const today = { heredocs: true, doubledContinues: false, escape: '\\' } as const
