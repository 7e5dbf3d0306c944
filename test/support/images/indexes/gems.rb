# Makes gems of the packages of Debian that are installed, and an index of them.

require 'fileutils'
require 'rubygems/package'
require 'tmpdir'
require 'zlib'

folder = ARGV.fetch(0)
quick = File.join(folder, 'quick', 'Marshal.4.8')
FileUtils.mkdir_p([File.join(folder, 'gems'), quick])
all = []
native = '/usr/lib/x86_64-linux-gnu'
libraries = ['/usr/lib/ruby/vendor_ruby', "#{native}/ruby/vendor_ruby/3.3.0"]
extensions = "#{native}/rubygems-integration/3.3.0/extensions/x86_64-linux-gnu/3.3.0"

# By the path in the gem: what Debian has in the folder of the gem, or among its libraries.
def contents_of(spec, libraries)
  package = `dpkg -S #{spec.loaded_from}`.split(':').first
  `dpkg -L #{package}`.lines.map(&:chomp).select { |path| File.file?(path) }.each_with_object({}) do |path, found|
    own = "#{spec.full_gem_path}/"
    library = libraries.find { |root| path.start_with?("#{root}/") }
    if path.start_with?(own)
      found[path.delete_prefix(own)] = path
    elsif library
      found["lib#{path.delete_prefix(library)}"] = path
    elsif spec.executables.include?(File.basename(path)) && path.start_with?('/usr/bin/')
      found["#{spec.bindir}/#{File.basename(path)}"] = path
    end
  end
end

roots = ['/usr/share/rubygems-integration/*', "#{native}/rubygems-integration/*", '/usr/lib/ruby/gems/*']
Dir[*roots.map { |root| "#{root}/specifications/*.gemspec" }].each do |path|
  spec = Gem::Specification.load(path)
  contents = contents_of(spec, [*libraries, "#{extensions}/#{spec.full_name}"])
  Dir.mktmpdir do |work|
    contents.each do |inside, source|
      FileUtils.mkdir_p(File.join(work, File.dirname(inside)))
      FileUtils.cp(source, File.join(work, inside))
    end
    spec.extensions = spec.extra_rdoc_files = spec.test_files = []
    spec.executables = spec.executables.select { |name| contents.key?("#{spec.bindir}/#{name}") }
    spec.files = contents.keys
    spec.require_paths |= ['lib']
    Dir.chdir(work) { FileUtils.mv(Gem::Package.build(spec, true), File.join(folder, 'gems')) }
  end
  all << [spec.name, spec.version, 'ruby']
  File.binwrite(File.join(quick, "#{spec.full_name}.gemspec.rz"), Zlib::Deflate.deflate(Marshal.dump(spec)))
end

{ 'specs' => all, 'latest_specs' => all, 'prerelease_specs' => [] }.each do |name, list|
  File.binwrite(File.join(folder, "#{name}.4.8.gz"), Gem::Util.gzip(Marshal.dump(list)))
end
