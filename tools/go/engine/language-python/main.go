// Command pulumi-language-python runs Python programs and policy packs for the Pulumi engine.
//
// The official host is not to be had as a module. This one speaks the same public protocol, and everything beside it
// is the real thing: the engine, the SDK, and the script that starts a program (pulumi-language-python-exec of sdk/v3,
// which the build lays beside this binary). It finds no plugins, installs nothing, checks no types and generates no code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// The script's exit status for "the user has been told": the engine then adds no text of its own.
const alreadyTold = 32

// How often the host looks whether its engine is still there, so that a killed engine leaves no host behind.
const engineCheck = 5 * time.Second

type host struct {
	pulumirpc.UnimplementedLanguageRuntimeServer

	engine string
	ctx    context.Context // ends with the engine
	cancel context.CancelFunc
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "the Pulumi engine starts this with its own address; it does nothing by itself")
		os.Exit(2)
	}
	if err := serve(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(engine string) error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := rpcutil.Healthcheck(ctx, engine, engineCheck, cancel); err != nil {
		return fmt.Errorf("the engine at %s cannot be watched: %w", engine, err)
	}
	stop := make(chan bool)
	context.AfterFunc(ctx, func() { close(stop) })
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: stop,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &host{engine: engine, ctx: ctx, cancel: cancel})
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port) // the engine reads it from here
	return <-handle.Done
}

func (h *host) Handshake(
	context.Context, *pulumirpc.LanguageHandshakeRequest,
) (*pulumirpc.LanguageHandshakeResponse, error) {
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

func (h *host) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

// Plugins are loaded when the program first needs them; none are looked for before.
func (h *host) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (h *host) About(ctx context.Context, request *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	python, err := interpreter(request.Info)
	if err != nil {
		return nil, err
	}
	about, err := python.About(ctx)
	if err != nil {
		return nil, err
	}
	return &pulumirpc.AboutResponse{Executable: about.PythonExecutable, Version: about.PythonVersion.String()}, nil
}

func (h *host) Cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	h.cancel()
	return &emptypb.Empty{}, nil
}

// Run runs a program to its end.
func (h *host) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	if request.GetAttachDebugger() {
		return nil, status.Error(codes.Unimplemented, "this language host has no debugger")
	}
	python, err := interpreter(request.Info)
	if err != nil {
		return nil, err
	}
	arguments, err := script(h.engine, request)
	if err != nil {
		return nil, err
	}
	command, err := python.Command(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	command.Dir = request.Info.ProgramDirectory
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.Env = append(command.Env, configuration(request)...)
	switch code, err := h.wait(ctx, command); {
	case err != nil:
		return nil, fmt.Errorf("Python could not be started: %w", err)
	case code == alreadyTold:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case code != 0:
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("Program exited with non-zero exit code: %d", code)}, nil
	}
	return &pulumirpc.RunResponse{}, nil
}

// RunPlugin runs a policy pack, or a provider or component written in Python, until the engine has enough of it.
func (h *host) RunPlugin(request *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer) error {
	python, err := interpreter(request.Info)
	if err != nil {
		return err
	}
	program := filepath.Join(request.Info.ProgramDirectory, request.Info.EntryPoint)
	arguments := append([]string{"-u", program}, request.Args...)
	if request.Kind == "analyzer" {
		// the SDK's own runner takes the engine's address first, the pack's folder second
		arguments = []string{"-u", "-m", "pulumi.policy", h.engine, program}
	}
	command, err := python.Command(server.Context(), arguments...)
	if err != nil {
		return err
	}
	closer, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	command.Dir = request.Pwd
	command.Stdout, command.Stderr = stdout, stderr
	command.Env = append(command.Env, request.Env...)
	code, err := h.wait(server.Context(), command)
	if err := errors.Join(err, ignoreEnd(closer.Close())); err != nil {
		return err
	}
	exit := &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(code)}
	return server.Send(&pulumirpc.RunPluginResponse{Output: exit})
}

// wait runs a command to its end, or until its request or the engine ends; code is the exit status.
func (h *host) wait(ctx context.Context, command *exec.Cmd) (code int, err error) {
	if err := command.Start(); err != nil {
		return 0, err
	}
	kill := func() { _ = command.Process.Kill() }
	defer context.AfterFunc(ctx, kill)()
	defer context.AfterFunc(h.ctx, kill)()
	var failed *exec.ExitError
	if err := command.Wait(); errors.As(err, &failed) {
		return failed.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}

func script(engine string, request *pulumirpc.RunRequest) ([]string, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	runner := filepath.Join(filepath.Dir(own), "pulumi-language-python-exec")
	if _, err := os.Stat(runner); err != nil {
		return nil, fmt.Errorf("the script of sdk/v3 that starts a program has to lie beside this binary: %w", err)
	}
	arguments := []string{
		"-u", runner,
		"--monitor", request.MonitorAddress,
		"--engine", engine,
		"--project", request.Project,
		"--root_directory", request.Info.RootDirectory,
		"--stack", request.Stack,
		"--organization", request.Organization,
		"--parallel", strconv.Itoa(int(request.Parallel)),
		"--dry_run", strconv.FormatBool(request.DryRun),
		"--pwd", request.Pwd,
		filepath.Join(request.Info.ProgramDirectory, request.Info.EntryPoint),
	}
	return append(arguments, request.Args...), nil
}

// configuration is what the SDK reads a stack's configuration from; maps and lists of text always have a JSON form.
func configuration(request *pulumirpc.RunRequest) []string {
	values, _ := json.Marshal(request.Config)
	secret, _ := json.Marshal(request.ConfigSecretKeys)
	return []string{"PULUMI_CONFIG=" + string(values), "PULUMI_CONFIG_SECRET_KEYS=" + string(secret)}
}

func interpreter(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, error) {
	options := toolchain.PythonOptions{Root: info.RootDirectory, ProgramDir: info.ProgramDirectory}
	given := info.Options.GetFields()
	options.Virtualenv = given["virtualenv"].GetStringValue()
	switch name := given["toolchain"].GetStringValue(); name {
	case "", "pip":
		options.Toolchain = toolchain.Pip
	case "poetry":
		options.Toolchain = toolchain.Poetry
	case "uv":
		options.Toolchain = toolchain.Uv
	default:
		return nil, fmt.Errorf("unknown toolchain %q; pip, poetry and uv are known", name)
	}
	return toolchain.ResolveToolchain(options)
}

// ignoreEnd drops the error of a stream whose other end has gone: the engine closes a pack so.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || status.Code(err) == codes.Canceled {
		return nil
	}
	return err
}
