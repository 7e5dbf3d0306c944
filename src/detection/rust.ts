import { objectOf, stringOf, webOfProcfile } from './files.ts'
import type { Files, JsonObject } from './files.ts'
import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { buildArguments, started, copy, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'
import { inFolder, joined, membershipIn } from './workspaces.ts'

const dataFolders = ['templates', 'static', 'public', 'assets', 'migrations', 'config']

export const rust: Rule = {
  looksFor: ['Cargo.toml'],
  plan(options) {
    const { files, settings, buildVariables } = options
    if (!files.has('Cargo.toml')) return null
    const member = membershipIn(options, 'rust')
    const root = member?.workspace.files ?? files
    const folder = member?.directory ?? ''
    const manifest = files.toml('Cargo.toml')
    const dependencies = Object.assign(
      {},
      ...(member?.needed ?? []).map((other) => root.toml(`${other}/Cargo.toml`)['dependencies']),
      objectOf(manifest['dependencies']),
    )
    const has = (name: string) => Object.hasOwn(dependencies, name)
    const toolchain = objectOf(root.toml('rust-toolchain.toml')['toolchain'])['channel']
    const version = chooseVersion('Rust', settings, [
      { range: stringOf(toolchain) ?? root.line('rust-toolchain'), from: 'rust-toolchain' },
      {
        range: atLeast(objectOf(manifest['package'])['rust-version']),
        from: 'rust-version in Cargo.toml',
      },
    ])
    if (has('leptos') && settings.build === undefined)
      throw lacking(
        'This uses Leptos, which is built by a program of its own.',
        'Add a Dockerfile that installs cargo-leptos, or set the build command.',
      )
    const program = settings.build === undefined ? programOf(files, manifest) : 'app'
    const locked = root.has('Cargo.lock') ? ' --locked' : ''
    const own = member ? ` -p ${packageOf(manifest)}` : ''
    const build =
      settings.build ??
      `cargo build --release${locked}${own} --bin ${program} && mkdir -p /out && cp target/release/${program} /out/app`
    const usual = has('rocket')
      ? 'ROCKET_ADDRESS=0.0.0.0 ROCKET_PORT=$PORT exec /app/app'
      : '/app/app'
    const start = settings.start ?? webOfProcfile(files) ?? usual
    const usesTls = has('openssl') || has('native-tls') || has('reqwest')
    return {
      kind: Object.entries(known).find(([, name]) => has(name))?.[0] ?? 'Rust',
      ...(member && { context: member.workspace.root }),
      reasons: [
        ...(member?.reasons ?? []),
        version.reason,
        locked === '' ? 'no Cargo.lock: each build may get other versions' : 'Cargo.lock',
        ...(settings.build === undefined ? [`builds the program ${program}`] : []),
        `starts with ${start}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${version.image} AS build`,
          'WORKDIR /src',
          installPackages(usesTls ? ['pkg-config', 'libssl-dev'] : [], settings.packages),
          // Else the image's rustup downloads what the file names, for each build again.
          root.first('rust-toolchain', 'rust-toolchain.toml') === undefined
            ? null
            : 'ENV RUSTUP_TOOLCHAIN=$RUST_VERSION',
          'COPY . .',
          ...buildArguments(buildVariables),
          settings.install === undefined ? null : run(inFolder(folder, settings.install)),
          run(settings.build === undefined ? build : inFolder(folder, build), [
            '/usr/local/cargo/registry',
            '/src/target',
          ]),
        ],
        [
          'FROM debian:trixie-slim',
          installPackages(usesTls ? ['ca-certificates', 'libssl3'] : [], settings.packages),
          'WORKDIR /app',
          usesTls
            ? null
            : `COPY --from=${version.image} /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/`,
          'ENV PORT=8080',
          'COPY --from=build /out/app ./',
          ...dataFolders
            .filter((folder) => files.hasFolder(folder))
            .map((data) => copy([joined(folder, data)], `./${data}`)),
          'USER 65532:65532',
          ...started(start, 8080),
        ],
      ),
      ignore: ['target'],
      settings: { version: version.version, build, start },
      links: linksOfPackages((name) => has(name), 'Cargo.toml'),
    }
  },
}

const known = {
  Axum: 'axum',
  'Actix Web': 'actix-web',
  Rocket: 'rocket',
  Warp: 'warp',
}

/** `rust-version` is the oldest that works. */
const atLeast = (value: unknown) =>
  typeof value === 'string' && /^[\d.]+$/.test(value) ? `>=${value}` : null

function packageOf(manifest: JsonObject) {
  const name = stringOf(objectOf(manifest['package'])['name']) ?? ''
  if (/^[a-z0-9_][\w-]*$/i.test(name)) return name
  throw lacking('Cargo.toml has no name of a package.', 'Set the name of the package.')
}

const inBin = /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/

function programOf(files: Files, manifest: JsonObject): string {
  const { bin, package: pkg } = manifest
  const entries = (Array.isArray(bin) ? bin : []).map(objectOf)
  const listed = entries.flatMap(({ name }) => stringOf(name) ?? [])
  const taken = entries.map(({ path }) => stringOf(path)?.replace(/^\.\//, ''))
  const own = stringOf(objectOf(pkg)['name'])
  // An entry may give another name to a file that Cargo would find by itself.
  const found = files.paths.flatMap((path) => {
    const name = path === 'src/main.rs' ? own : inBin.exec(path)?.[1]
    return name && !taken.includes(path) ? [name] : []
  })
  const all = [...new Set([...listed, ...(objectOf(pkg)['autobins'] === false ? [] : found)])]
  const wanted = stringOf(objectOf(pkg)['default-run'])
  const usual = own !== null && all.includes(own) ? own : listed.length === 1 ? listed[0] : null
  const chosen = wanted ?? usual ?? (all.length === 1 ? all[0] : undefined)
  if (chosen !== undefined && /^\w[\w-]*$/.test(chosen)) return chosen
  if (manifest['workspace'] !== undefined)
    throw lacking(
      'This is a Cargo workspace.',
      'Set the build command, such as “cargo build --release --bin server && mkdir -p /out && cp target/release/server /out/app”.',
    )
  if (all.length === 0)
    throw lacking(
      'Cargo.toml names no program: there is no src/main.rs, no src/bin and no [[bin]].',
      'Set the context directory to the package of the program.',
    )
  throw lacking(
    `Cargo.toml names several programs: ${all.slice(0, 8).join(', ')}.`,
    'Set default-run in Cargo.toml.',
  )
}
