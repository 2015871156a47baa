// Command kuberay-operator runs KubeRay's RayCluster and RayJob reconcilers.
//
// It stands in for the release's own main, whose webhooks (off by default there) do not compile against the
// controller-runtime that Kubernetes 1.36 needs. The reconcilers are the release's, unchanged.
package main

import (
	"flag"
	"os"

	configapi "github.com/ray-project/kuberay/ray-operator/apis/config/v1alpha1"
	rayv1 "github.com/ray-project/kuberay/ray-operator/apis/ray/v1"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/batchscheduler"
	"github.com/ray-project/kuberay/ray-operator/controllers/ray/utils"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	probe := flag.String("health-probe-bind-address", "127.0.0.1:8082", "where /healthz and /readyz answer")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*probe); err != nil {
		ctrl.Log.Error(err, "the operator stopped")
		os.Exit(1)
	}
}

func run(probe string) error {
	ctx, config := ctrl.SetupSignalHandler(), ctrl.GetConfigOrDie()
	mgr, err := ctrl.NewManager(config, options(probe))
	if err != nil {
		return err
	}
	settings := configapi.Configuration{}
	schedulers, err := batchscheduler.NewSchedulerManager(ctx, settings, config, mgr.GetClient())
	if err != nil {
		return err
	}
	clusters := ray.NewReconciler(ctx, mgr, ray.RayClusterReconcilerOptions{BatchSchedulerManager: schedulers})
	if err := clusters.SetupWithManager(mgr, 1); err != nil {
		return err
	}
	jobs := ray.NewRayJobReconciler(ctx, mgr, ray.RayJobReconcilerOptions{BatchSchedulerManager: schedulers}, settings)
	if err := jobs.SetupWithManager(mgr, 1); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// The release's own cache: of all Jobs it sees only the submitters that it makes itself.
func options(probe string) ctrl.Options {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(rayv1.AddToScheme(scheme))
	mine := labels.SelectorFromSet(labels.Set{utils.KubernetesCreatedByLabelKey: utils.ComponentName})
	return ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cache.Options{ByObject: map[client.Object]cache.ByObject{&batchv1.Job{}: {Label: mine}}},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: probe,
	}
}
