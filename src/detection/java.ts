import type { Files } from './files.ts'
import { webOfProcfile } from './files.ts'
import { linksOfPackages } from './links.ts'
import { lacking } from './plan.ts'
import type { Rule } from './plan.ts'
import { buildArguments, started, dockerfile, installPackages, run } from './text.ts'
import { chooseVersion } from './versions.ts'
import type { Version } from './versions.ts'
import { inFolder, joined, membershipIn } from './workspaces.ts'

const jar = '-Dserver.port=$PORT -jar app.jar'

const frameworks: Record<string, [sign: string, gradleTask: string, program: string]> = {
  'Spring Boot': ['spring-boot', 'bootJar', jar],
  Quarkus: [
    'io.quarkus',
    'quarkusBuild',
    '-Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar quarkus-run.jar',
  ],
  Micronaut: ['io.micronaut', 'assemble', '-Dmicronaut.server.port=$PORT -jar app.jar'],
  // Its own server reads the port as an argument of the program; others ignore that.
  Ktor: ['io.ktor', 'buildFatJar', '-jar app.jar -port=$PORT'],
}

/** Java and Kotlin, by what builds them. */
export const java: Rule = {
  looksFor: ['pom.xml', 'build.gradle', 'build.gradle.kts'],
  plan(options) {
    const { files, settings, buildVariables } = options
    const file = files.first('pom.xml', 'build.gradle', 'build.gradle.kts')
    if (file === undefined) return null
    const text = files.text(file)
    const words = new Set(text.split(/[\s<>"':]+/))
    const isMaven = file === 'pom.xml'
    if (isMaven && /<modules>/.test(text) && settings.build === undefined)
      throw lacking(
        'This is a Maven project of several modules.',
        'Set the context directory to the app’s module, or add a Dockerfile.',
      )
    const member = membershipIn(options, 'java')
    const root = member?.workspace.files ?? files
    const at = member?.directory ?? ''
    const version = chooseVersion('Java', settings, [
      { range: files.line('.java-version'), from: '.java-version' },
      { range: /^java=(\d+)/m.exec(files.text('.sdkmanrc'))?.[1], from: '.sdkmanrc' },
      {
        range: /^java\.runtime\.version\s*=\s*(\d+)/m.exec(files.text('system.properties'))?.[1],
        from: 'system.properties',
      },
      { range: versionIn(text), from: file },
      { range: member && versionIn(root.text(file)), from: file },
    ])
    const [framework = null, [, task, program] = ['', 'assemble', jar]] =
      Object.entries(frameworks).find(([, [sign]]) => text.includes(sign)) ?? []
    const tool = toolOf(root, { isMaven, version })
    const build =
      settings.build ??
      `${tool.program} ${
        isMaven
          ? `--batch-mode -DskipTests ${member ? `-pl ${at} -am ` : ''}package`
          : `--no-daemon ${member ? `:${at.replaceAll('/', ':')}:` : ''}${task}`
      }`
    const folder = joined(at, isMaven ? 'target' : 'build/libs')
    const quarkus =
      framework === 'Quarkus' ? joined(at, `${isMaven ? 'target' : 'build'}/quarkus-app`) : null
    // Of several archives the one that holds the dependencies too: the largest.
    const keep =
      quarkus === null
        ? `mkdir /out && cp "$(ls -S ${folder}/*.[jw]ar | grep -v -E -e '-(plain|sources|javadoc)\\.[jw]ar$' -e '/original-' | head -n 1)" /out/app.jar`
        : `mv ${quarkus} /out`
    const start = settings.start ?? webOfProcfile(files) ?? `java ${program}`
    return {
      kind: framework ?? (isKotlin(files) ? 'Kotlin' : 'Java'),
      ...(member && { context: member.workspace.root }),
      reasons: [
        ...(member?.reasons ?? []),
        ...(framework === null ? [] : [`${framework} from ${file}`]),
        `${isMaven ? 'Maven' : 'Gradle'} from ${file}`,
        version.reason,
        `builds with ${build}`,
        `starts with ${start}`,
      ],
      dockerfile: dockerfile(
        [
          `FROM ${tool.image} AS build`,
          'WORKDIR /src',
          installPackages(settings.packages),
          'COPY . .',
          ...buildArguments(buildVariables),
          settings.install === undefined ? null : run(inFolder(at, settings.install), [tool.cache]),
          ...(settings.build === undefined
            ? [run(`${build} && ${keep}`, [tool.cache])]
            : [run(inFolder(at, build), [tool.cache]), run(keep)]),
        ],
        [
          `FROM ${version.image}-jre`,
          'WORKDIR /app',
          installPackages(settings.packages),
          'RUN useradd --system --no-create-home app',
          'ENV PORT=8080 JAVA_TOOL_OPTIONS=-XX:MaxRAMPercentage=75',
          'COPY --from=build /out ./',
          'USER app',
          ...started(start, 8080),
        ],
      ),
      ignore: ['target', 'build', '.gradle', '.idea'],
      settings: { version: version.version, build, start },
      links: linksOfPackages((name) => words.has(name), file),
    }
  },
}

/** The repository's own Gradle where it has one, as another may not read its files; 9 needs Java 17. */
function toolOf(files: Files, { isMaven, version }: { isMaven: boolean; version: Version }) {
  if (isMaven)
    return {
      program: 'mvn',
      image: `maven:3.9-eclipse-temurin-${version.version}`,
      cache: '/root/.m2',
    }
  if (files.has('gradlew') && files.has('gradle/wrapper/gradle-wrapper.jar'))
    return { program: 'sh gradlew', image: version.image, cache: '/root/.gradle' }
  const gradle = Number(version.version) < 17 ? '8.14' : '9.2'
  return {
    program: 'gradle',
    image: `gradle:${gradle}-jdk${version.version}`,
    cache: '/home/gradle/.gradle',
  }
}

const isKotlin = (files: Files) => files.find(/\.kt$/) !== undefined

/** Of a property of Maven, or of a toolchain or compatibility of Gradle. */
const versionIn = (text: string) =>
  (/<(?:java\.version|maven\.compiler\.release|maven\.compiler\.target|release)>\s*(?:1\.)?(\d+)\s*</.exec(
    text,
  ) ??
    /(?:JavaLanguageVersion\.of\(|jvmToolchain\(|VERSION_|(?:source|target)Compatibility\s*=\s*['"]?(?:1\.)?)(\d+)/.exec(
      text,
    ))?.[1]
